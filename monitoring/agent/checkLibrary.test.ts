import { afterAll, expect, test } from 'vitest'
import { startHttpServer } from '../check/testing/checkedServer.ts'
import type { EndpointTask } from '../protocol/messages.ts'
import { checkLibrary } from './checkLibrary.ts'

const server = await startHttpServer((_request, response) => response.end('ok'))
afterAll(() => server.close())

const call = {
  method: 'GET',
  timeout_ms: 1_000,
  redirects: 0,
  with_dns: false,
  headers: [],
  body: null,
} as const
const task = (url: string): EndpointTask => ({
  ...{
    id: '0192b1d4-5c1e-7000-9000-000000000001',
    series: 1,
    url,
    blocked: false,
    assertions: [],
  },
  call: { ...call, headers: [] },
})
const library = (allowedRanges: readonly string[]) => checkLibrary({ allowedRanges, userAgent: 'test' })
/** The report of a check that is not repeated. */
const found = async ({ prepare }: ReturnType<typeof library>, url: string) =>
  (await prepare(task(url), 'org').run({ slot: 0, nextDueMs: 0 })).reason

test.each([
  [['127.0.0.0/8'], ['127.0.0.0/8'], 'none'],
  [['127.0.0.0/8'], ['10.0.0.0/8'], 'address_forbidden'],
  [[], ['127.0.0.0/8'], 'address_forbidden'],
])('where the agent allows %j and the server %j, 127.0.0.1 is %s', async (ofAgent, ofServer, reason) => {
  const before = server.connections()
  const checks = library(ofAgent)
  checks.restrict({ ranges_allowed: ofServer, server_addresses: [] })

  expect(await found(checks, `http://127.0.0.1:${server.port}/`)).toBe(reason)
  expect(server.connections() - before).toBe(reason === 'none' ? 1 : 0)
})

test("an agent adopts changed address ranges of its server, and does not contact the server's machine", async () => {
  const checks = library(['127.0.0.0/8'])
  const reasons: string[] = []
  for (const ranges_allowed of [['127.0.0.0/8'], [], ['127.0.0.0/8']]) {
    checks.restrict({ ranges_allowed, server_addresses: ['203.0.114.9'] })
    reasons.push(await found(checks, `http://127.0.0.1:${server.port}/`))
  }

  expect(reasons).toEqual(['none', 'address_forbidden', 'none'])
  expect(await found(checks, 'http://203.0.114.9/')).toBe('address_forbidden')
})

test.each([
  ['kind', { Certificate: { days: 30 } }],
  ['comparison', { StatusCode: { expected: { DividedBy: 2 } } }],
  ['matcher', { Body: { matcher: { LooksLike: 'ok' } } }],
])(
  'an endpoint with a %s of assertions unknown to the agent is unknown, and not contacted',
  async (_what, assertion) => {
    const before = server.connections()
    const { prepare } = library(['127.0.0.0/8'])
    const newer = { ...task(`http://127.0.0.1:${server.port}/`), assertions: [assertion] }

    const { outcome, reason } = await prepare(newer, 'org').run({ slot: 0, nextDueMs: 0 })

    expect([outcome, reason]).toEqual(['unknown', 'agent_too_old'])
    expect(server.connections()).toBe(before)
  },
)
