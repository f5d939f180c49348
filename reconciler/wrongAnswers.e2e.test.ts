import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Client } from '../api/client/client.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { type FaultProxy, type Misanswer, startFaultProxy } from './testing/faultProxy.ts'
import { manifestOf, type Workplace, workplace } from './testing/pharosProgram.ts'

let server: TestServer
let proxy: FaultProxy
let client: Client
let work: Workplace
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(async () => {
  const orgId = await server.createOrg({ plan: 'business' })
  proxy = await startFaultProxy(server.url)
  client = new Client({ url: server.url, apiKey: await server.createKey({ orgId }), userAgent: 'test' })
  work = workplace({ url: proxy.url, apiKey: await server.createKey({ orgId }) })
})
afterEach(async () => {
  work.remove()
  await client.close()
  await proxy.close()
})

async function json(command: string, ...args: readonly string[]) {
  const run = await work.run(command, '--json', ...args)
  return { ...JSON.parse(run.stdout), exit: run.exitCode }
}

async function names(): Promise<readonly string[]> {
  return (await client.listServices()).services.map(({ name }) => name).sort()
}

/** What each answer to a change makes of a run: nothing is known then, so nothing else is sent. */
const MISANSWERS: readonly (readonly [Misanswer, number, string | undefined])[] = [
  ['html', 1, 'E_ANSWER'],
  ['no-id', 1, 'E_ANSWER'],
  ['half-json', 1, 'E_ANSWER'],
  ['wrong-type', 0, undefined],
]

test.each(MISANSWERS)(
  'Scenario 34: a creation and a change that are answered wrongly (%s) are found out by the next run, and made once',
  async (misanswer, exit, code) => {
    work.write({ 'a.yaml': manifestOf('a') })
    let creations = 0
    proxy.decide = (method) => {
      if (method === 'POST') creations += 1
      return misanswer
    }
    const created = await json('apply', '--create-grace', '1ms')
    expect([created.exit, created.error?.code]).toEqual([exit, code])
    work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
    const changed = await json('apply', '--create-grace', '1ms')
    expect([changed.exit, changed.error?.code]).toEqual([exit, code])
    proxy.decide = () => 'pass'
    expect(await json('apply', '--create-grace', '1ms')).toMatchObject({ exit: 0, applied: { created: 0 } })
    expect([creations, await names()]).toEqual([1, ['a']])
    expect((await client.listServices()).services).toMatchObject([{ interval_secs: 90 }])
  },
)

test('Scenario 33: a 429 that says how long is waited for that long, and the creation is sent again once', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const sentAtMs: number[] = []
  proxy.refusesWith = (method) => {
    if (method !== 'POST') return undefined
    sentAtMs.push(performance.now())
    return sentAtMs.length === 1 ? { status: 429, error: 'rate_limited', retryAfterSecs: 2 } : undefined
  }
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
  const [first = 0, second = 0] = sentAtMs
  // Left to itself the first pause is a second at most; timers may be a little early, by another clock.
  expect(second - first).toBeGreaterThan(1_900)
  expect([sentAtMs.length, await names()]).toEqual([2, ['a']])
})

test('Scenario 34: where TLS cannot be had or nobody listens, nothing is sent and the exit code is 1', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  let asked = 0
  proxy.refuses = () => {
    asked += 1
    return true
  }
  work.env.PHAROS_URL = proxy.url.replace('http:', 'https:')
  const tls = await json('apply')
  expect([tls.exit, asked]).toEqual([1, 0])

  const closed = await startFaultProxy(server.url)
  await closed.close()
  work.env.PHAROS_URL = closed.url
  const refused = await json('apply')
  expect(refused).toMatchObject({ exit: 1, error: { message: expect.stringContaining('ECONNREFUSED') } })
  work.env.PHAROS_URL = server.url
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
  expect(await names()).toEqual(['a'])
})

test('a file that cannot be written is told in one line that names it, not as a fault of the program', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const { exit, error } = await json('plan', '--out', '/no/such/folder/plan.json')
  expect([exit, error]).toEqual([
    1,
    expect.objectContaining({
      code: 'E_FILE',
      message: expect.stringMatching(/^ENOENT.*'\/no\/such\/folder\/plan.json'$/),
    }),
  ])
  expect((await json('apply', '--strict')).error.message).toContain('--strict goes with --plan')
})
