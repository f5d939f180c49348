import { expect, test } from 'vitest'
import { type ChangeOrigin, managementOf, originOf } from './changeOrigin.ts'

const source = { repository: null, commit: null, path: null }

function byTool(nowMs: number, userAgent: string): ChangeOrigin {
  return originOf({ nowMs, keyId: 'key', userAgent, source })
}

function byPerson(nowMs: number): ChangeOrigin {
  return { ...byTool(nowMs, ''), tool: null, toolVersion: null, keyId: null, personId: 'ada' }
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
