import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { assertDescribed } from '../testing/describedAnswer.ts'
import { startServer } from '../testing/startServer.ts'
import { openApi } from './openApi.ts'

test('docs/openapi.json is what the schemas say', async () => {
  const committed: unknown = JSON.parse(await readFile('docs/openapi.json', 'utf8'))

  // "node --import tsx server/http/writeOpenApi.ts" writes it anew.
  expect(committed).toEqual(openApi())
})

test('a server hands out its description without a key', async () => {
  const server = await startServer()

  const response = await fetch(`${server.url}/openapi.json`)
  const description: unknown = await response.json()
  await server.close()

  expect([response.status, description]).toEqual([200, openApi()])
})

test('an answer that is not described is noticed', () => {
  const org = { id: crypto.randomUUID(), name: 'x', plan: 'business', scope: 'read_write' }

  expect(() => assertDescribed('GET', '/v1/org', { status: 200, json: org })).not.toThrow()
  expect(() => assertDescribed('GET', '/v1/org', { status: 200, json: { ...org, scope: 'all' } })).toThrow()
  expect(() => assertDescribed('GET', '/v1/org', { status: 202, json: org })).toThrow()
})
