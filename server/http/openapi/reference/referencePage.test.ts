import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiClient } from '../../../testing/apiClient.ts'
import { serviceBody } from '../../../testing/serviceBodies.ts'
import { startServer, type TestServer } from '../../../testing/startServer.ts'
import { openApi } from '../openApi.ts'
import type { OpenApiDocument } from './document.ts'
import { operationsOf } from './operationParts.ts'

// True because the tests below verify that every part of it is on the page.
const DOCUMENT = openApi() as unknown as OpenApiDocument

let server: TestServer
let response: Response
let page: string
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  response = await fetch(`${server.adminUrl}/docs`)
  page = await response.text()
})
afterAll(() => server.close())

/** All values of an attribute on the page. */
const attributes = (name: string): readonly string[] =>
  [...page.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)

/** The text of the commands on the page, by operation. */
function commands(): ReadonlyMap<string, string> {
  const found = page.matchAll(
    /<section class="group" id="(\w+)".*?<pre class="example"><code>(.*?)<\/code>/gs,
  )
  return new Map(
    [...found].map(([, id = '', command = '']) => [
      id,
      command
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&'),
    ]),
  )
}

test('the admin listener serves the page and its document, and the page may not load anything', async () => {
  const document: unknown = await (await fetch(`${server.adminUrl}/openapi.json`)).json()

  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(response.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
  )
  expect(document).toEqual(openApi())
  expect(page).not.toMatch(/<script|<link| src=|@import|url\(/)
  expect(attributes('href').filter((target) => !target.startsWith('#'))).toEqual(['openapi.json'])
})

test('llms.txt of the admin listener has a line for each operation, and its links have targets', async () => {
  const text = await (await fetch(`${server.adminUrl}/llms.txt`)).text()
  const links = [...text.matchAll(/^- \[\S.*?\]\((\S+)\): \S.*$/gm)].map(([, link = '']) => link)

  expect(text).toMatch(/^# \S.*\n\n> \S.*\n\n## /)
  const [docs, openapi, ...operations] = links
  expect([docs, openapi]).toEqual(['/docs', '/openapi.json'])
  expect(operations).toEqual(operationsOf(DOCUMENT).map(({ operation }) => `/docs#${operation.operationId}`))
})

test('every link within the page has exactly one target', () => {
  const ids = attributes('id')

  expect(new Set(ids).size).toBe(ids.length)
  const targets = attributes('href').filter((target) => target.startsWith('#'))
  expect(targets.length).toBeGreaterThan(50)
  expect(targets.filter((target) => !ids.includes(target.slice(1)))).toEqual([])
})

test('the page has every operation, schema, parameter, field and error of the document', () => {
  const { components } = DOCUMENT
  const ids = attributes('id')
  const names = [...page.matchAll(/<code class="name">([^<]+)<\/code>/g)].map(([, name]) => name)
  const parameters = operationsOf(DOCUMENT).flatMap(({ operation }) =>
    operation.parameters.flatMap(({ name }) => (name === undefined ? [] : [name])),
  )
  const fields = Object.values(components.schemas).flatMap((schema) =>
    [schema, ...(schema.oneOf ?? [])].flatMap(({ properties }) => Object.keys(properties ?? {})),
  )

  const expected = [
    ...operationsOf(DOCUMENT).map(({ operation }) => operation.operationId),
    ...Object.keys(components.schemas).map((name) => `schema-${name}`),
    ...Object.keys(components.responses).map((name) => `error-${name}`),
  ]
  expect(expected.length).toBeGreaterThan(40)
  expect(expected.filter((id) => !ids.includes(id))).toEqual([])
  const shared = Object.values(components.parameters).map(({ name }) => name)
  expect([...parameters, ...shared, ...fields].filter((name) => !names.includes(name))).toEqual([])
})

test('mutually exclusive forms are not marked as required', () => {
  const section = /<section class="group" id="schema-StringMatcher".*?<\/section>/s.exec(page)?.[0] ?? ''

  expect(section).toContain('<p>Exactly one of:</p>')
  expect(section).toContain('<code class="name">Regex</code>')
  expect(section).not.toContain('required')
})

test('every command of the page succeeds in a shell', async () => {
  const { post } = apiClient(server.url, server.apiKey)
  const idOf = async (path: string, body: object): Promise<string> => {
    const { json } = await post(path, body)
    // True because both return the created resource.
    return (json as { id: string }).id
  }
  const outcomes: unknown[] = []
  for (const [operation, command] of commands()) {
    const serviceId = await idOf('/v1/services', serviceBody())
    const environment = {
      PATH: process.env.PATH,
      PHAROS_URL: server.url,
      PHAROS_API_KEY: server.apiKey,
      SERVICE_ID: serviceId,
      INCIDENT_ID: await idOf('/v1/incidents', {
        title: 'Payments fail',
        message: 'We look into it.',
        severity: 'partial_outage',
        service_ids: [serviceId],
      }),
    }
    const { stderr } = await promisify(execFile)('bash', ['--norc', '-euc', command], { env: environment })
    outcomes.push([operation, stderr])
  }

  expect(outcomes).toEqual(operationsOf(DOCUMENT).map(({ operation }) => [operation.operationId, '']))
})
