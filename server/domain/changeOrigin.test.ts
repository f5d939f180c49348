import { expect, test } from 'vitest'
import {
  actorOf,
  type ChangeOrigin,
  managementOf,
  originOf,
  originOfPerson,
  productOf,
} from './changeOrigin.ts'

const source = { repository: null, commit: null, path: null }

function byTool(nowMs: number, userAgent: string): ChangeOrigin {
  return originOf({ nowMs, keyId: 'key', userAgent, source })
}

function byPerson(nowMs: number): ChangeOrigin {
  return originOfPerson('ada', nowMs)
}

test('a service is managed by the tool that wrote it last, and differs from code after a manual change', () => {
  const terraform = byTool(1_000, 'terraform-provider-pharos/1.2.0')
  const origins = [byPerson(3_000), byPerson(2_000), terraform, byTool(0, 'curl/8.1')]

  expect(managementOf(origins)).toEqual({
    manager: 'Terraform',
    origin: terraform,
    differsSince: '1970-01-01T00:00:02.000Z',
  })
  expect(managementOf(origins.slice(2)).differsSince).toBeNull()
  expect(managementOf([byTool(4_000, 'pharos/1.2.0'), ...origins])).toMatchObject({
    manager: 'GitOps',
    differsSince: null,
  })
})

test('a service made in the console is not managed by code, and the manager of one from an earlier release is unknown', () => {
  const made = byPerson(1_000)

  expect(managementOf([made])).toEqual({ manager: 'Console', origin: made, differsSince: null })
  expect(managementOf([null])).toEqual({ manager: 'Unknown', origin: null, differsSince: null })
  expect(managementOf([byTool(0, 'curl/8.1')]).manager).toBe('API')
})

test('a change has the person or the key as its author, or the operator', () => {
  expect(actorOf(byPerson(0))).toEqual({ kind: 'person', id: 'ada' })
  expect(actorOf(byTool(0, 'curl/8.1'))).toEqual({ kind: 'key', id: 'key' })
  expect(actorOf({ ...byPerson(0), personId: null })).toEqual({ kind: 'cli' })
  expect(actorOf(undefined)).toEqual({ kind: 'cli' })
})

test('a change in the console has the person and no tool, key or source', () => {
  expect(originOfPerson('ada', 1_000)).toEqual({
    ...source,
    at: '1970-01-01T00:00:01.000Z',
    tool: null,
    toolVersion: null,
    keyId: null,
    personId: 'ada',
  })
})

test.each([
  ['pharos/1.2.0', 'pharos', '1.2.0'],
  ['pharos/1.2.0 (linux; x64) node/20', 'pharos', '1.2.0'],
  ['pharos/1.2.0\tnode/20', 'pharos', '1.2.0'],
  ['pharos;x', 'pharos', null],
  ['pharos', 'pharos', null],
  ['pharos (linux)', 'pharos', null],
  ['pharos/1.2/3', null, null],
  [' pharos/1.2.0', null, null],
  ['(pharos/1.2.0)', null, null],
  ['pharos/', null, null],
  ['', null, null],
  [undefined, null, null],
  [`${'p'.repeat(101)}/${'1'.repeat(101)}`, 'p'.repeat(100), '1'.repeat(100)],
])('the tool of the User-Agent %j is %j with the version %j', (userAgent, tool, toolVersion) => {
  expect(originOf({ nowMs: 0, keyId: 'key', userAgent, source })).toMatchObject({ tool, toolVersion })
})

test('a product has at most 100 characters and its version', () => {
  expect(productOf('pharos/1.2.0 (linux)')).toBe('pharos/1.2.0')
  expect(productOf('pharos')).toBe('pharos')
  expect(productOf(`${'p'.repeat(101)}/1`)).toBe('p'.repeat(100))
  expect(productOf('(linux)')).toBeNull()
  expect(productOf(undefined)).toBeNull()
})
