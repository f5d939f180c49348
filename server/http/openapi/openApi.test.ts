import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { assertDescribed } from '../../testing/describedResponse.ts'
import { startServer } from '../../testing/startServer.ts'
import { openApi } from './openApi.ts'

test('docs/openapi.json agrees with the schemas', async () => {
  const committed: unknown = JSON.parse(await readFile('docs/openapi.json', 'utf8'))

  // `npm run openapi` writes it again.
  expect(committed).toEqual(openApi())
})

test('a server serves its OpenAPI document without a key', async () => {
  const server = await startServer()

  const response = await fetch(`${server.url}/openapi.json`)
  const description: unknown = await response.json()
  await server.close()

  expect([response.status, description]).toEqual([200, openApi()])
})

test('an undocumented response is detected', () => {
  const org = { id: crypto.randomUUID(), name: 'x', plan: 'business', scope: 'read_write' }

  expect(() => assertDescribed('GET', '/v1/org', { status: 200, json: org })).not.toThrow()
  expect(() => assertDescribed('GET', '/v1/org', { status: 200, json: { ...org, scope: 'all' } })).toThrow()
  expect(() => assertDescribed('GET', '/v1/org', { status: 202, json: org })).toThrow()
})

/** Every object of `schema` that has fields of its own, except tagged objects, whose one key names their form. */
function* objectsIn(schema: unknown): Generator<unknown> {
  if (typeof schema !== 'object' || schema === null) return
  if ('properties' in schema && Object.keys(Object(schema.properties)).length > 1) yield schema
  for (const part of Object.values(schema)) yield* objectsIn(part)
}

test('each noun of the contract is one component, and all uses refer to it', () => {
  const { paths, components } = z
    .object({ paths: z.unknown(), components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
    .parse(openApi())
  const { schemas } = components

  const inlined = Object.entries(schemas).filter(([, schema]) =>
    [...objectsIn(schema)].some((part) => part !== schema),
  )

  expect([[...objectsIn(paths)], inlined]).toEqual([[], []])
  expect(Object.keys(schemas)).toEqual([
    ...['Org', 'Region', 'ServiceRequest', 'ServiceResponse', 'EndpointInput', 'EndpointResponse'],
    ...['MonitoringCallInput', 'MonitoringCallResponse', 'HttpCallInput', 'HttpCallResponse'],
    ...['SensitiveInput', 'SensitiveResponse', 'Duration', 'MonitoringAssertionDef', 'StatusCodeAssertion'],
    ...['LatencyAssertion', 'DnsResoltionAssertion', 'HeaderAssertion', 'BodyAssertion', 'Comparison'],
    ...['DurationComparison', 'StringMatcher', 'Incident', 'IncidentUpdate', 'IncidentPage'],
    ...['IncidentRequest', 'IncidentUpdateRequest', 'IncidentStatus', 'Severity', 'Error'],
  ])
})

test('a pair is an array of two, written with keywords that every validator supports', () => {
  const text = JSON.stringify(openApi())

  expect(text).not.toContain('prefixItems')
  expect(text.match(/"minItems":2,"maxItems":2,"items":/g)?.length).toBe(2)
})

test('the document has a licence and a server', () => {
  expect(openApi()).toMatchObject({
    info: { license: { identifier: 'Apache-2.0' }, contact: {} },
    servers: [{ url: '{base_url}', variables: { base_url: { default: 'http://127.0.0.1:7171' } } }],
  })
})
