import { expect, test } from 'vitest'
import { startServer } from '../server/testing/startServer.ts'
import { CommandScene } from './testing/commandScene.ts'
import { type WrongResponse, startFaultProxy } from './testing/faultProxy.ts'
import { manifestOf } from './testing/manifestOf.ts'

const scene = new CommandScene(startServer)
const { json, names, work } = scene

/** What each wrong response to a change makes of a run: nothing is known then, so nothing else is sent. */
const WRONG_RESPONSES: readonly (readonly [WrongResponse, number, string | undefined])[] = [
  ['html', 1, 'E_ANSWER'],
  ['no-id', 1, 'E_ANSWER'],
  ['half-json', 1, 'E_ANSWER'],
  ['wrong-type', 0, undefined],
]

test.each(WRONG_RESPONSES)(
  'Scenario 34: a creation and a change with a wrong response (%s) are resolved by the next run, and made once',
  async (wrongResponse, exit, code) => {
    work.write({ 'a.yaml': manifestOf('a') })
    let creations = 0
    scene.proxy.decide = (method) => {
      if (method === 'POST') creations += 1
      return wrongResponse
    }
    const created = await json('apply', '--create-grace', '1ms')
    expect([created.exit, created.error?.code]).toEqual([exit, code])
    work.write({ 'a.yaml': manifestOf('a').replace('60s', '90s') })
    const changed = await json('apply', '--create-grace', '1ms')
    expect([changed.exit, changed.error?.code]).toEqual([exit, code])
    scene.proxy.decide = () => 'pass'
    expect(await json('apply', '--create-grace', '1ms')).toMatchObject({ exit: 0, applied: { created: 0 } })
    expect([creations, await names()]).toEqual([1, ['a']])
    expect((await scene.client.listServices()).services).toMatchObject([{ interval_secs: 90 }])
  },
)

test('Scenario 33: the Retry-After of a 429 is respected, and the creation is sent again once', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  const sentAtMs: number[] = []
  scene.proxy.refusesWith = (method) => {
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

test('Scenario 34: when TLS fails or no server listens, nothing is sent and the exit code is 1', async () => {
  work.write({ 'a.yaml': manifestOf('a') })
  let asked = 0
  scene.proxy.refuses = () => {
    asked += 1
    return true
  }
  work.env.PHAROS_URL = scene.proxy.url.replace('http:', 'https:')
  const tls = await json('apply')
  expect([tls.exit, asked]).toEqual([1, 0])

  const closed = await startFaultProxy(scene.server.url)
  await closed.close()
  work.env.PHAROS_URL = closed.url
  const refused = await json('apply')
  expect(refused).toMatchObject({ exit: 1, error: { message: expect.stringContaining('ECONNREFUSED') } })
  work.env.PHAROS_URL = scene.server.url
  expect(await json('apply')).toMatchObject({ exit: 0, applied: { created: 1 } })
  expect(await names()).toEqual(['a'])
})
