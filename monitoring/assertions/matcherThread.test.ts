import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MatcherThread } from './matcherThread.ts'
import { type Regex, regexOf } from './textMatcher.ts'

const FOR_EVER = { org: 'o', series: 'a', deadlineMs: Number.POSITIVE_INFINITY }
/** About 300 alternatives stay open at every letter, which takes ten seconds on 8 MiB. */
const BOMB = '[a-m][a-z]{300}[0-9]'
const LONG_TEXT = Array.from({ length: 262_144 }, (_, at) =>
  String.fromCharCode(97 + ((at * 7_919 + ((at * at) >> 3)) % 26)),
)
  .join('')
  .repeat(32)
const SHORT_TEXT = `${'a'.repeat(301)}1`

let thread: MatcherThread | undefined
// Otherwise any match could take too long on a busy machine.
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(async () => {
  vi.useRealTimers()
  await thread?.close()
  thread = undefined
})

/** Ends the time of the match that runs, or of the next one. */
async function endTime(): Promise<void> {
  while (vi.getTimerCount() === 0) await setImmediate()
  vi.runOnlyPendingTimers()
}

function regex(pattern: string): Regex {
  const compiled = regexOf(pattern)
  if (compiled === undefined) throw new Error(`${pattern} does not compile`)
  return compiled
}

test('the matcher thread finds the same matches as the main thread', async () => {
  thread = new MatcherThread()
  const text = `${'x'.repeat(10_000)} status: ok`

  const found = await Promise.all(
    ['status: (ok|fine)$', '^status', '(?i)STATUS'].map((pattern) =>
      thread?.match(regex(pattern), text, FOR_EVER),
    ),
  )

  expect(found).toEqual([true, false, true])
})

test('a match that takes too long is aborted, and the matches queued behind it run', async () => {
  thread = new MatcherThread()

  const matches = [
    thread.match(regex(BOMB), LONG_TEXT, FOR_EVER),
    thread.match(regex('ok'), 'all ok', FOR_EVER),
  ]
  await endTime()
  const [bomb, behind] = await Promise.all(matches)

  expect({ bomb, behind }).toEqual({ bomb: undefined, behind: true })
})

test('a match waits for at most one of each other organisation, however many these have', async () => {
  thread = new MatcherThread()
  const settled: string[] = []
  const match = (name: string, org: string) =>
    thread?.match(regex('ok'), 'ok', { ...FOR_EVER, org }).then(() => settled.push(name))

  await Promise.all([
    match('a1', 'a'),
    match('a2', 'a'),
    match('a3', 'a'),
    match('b1', 'b'),
    match('c1', 'c'),
  ])

  expect(settled).toEqual(['a1', 'b1', 'c1', 'a2', 'a3'])
})

test('a pattern that took too long is skipped for ten minutes in its series, and in no other', async () => {
  let nowMs = 0
  thread = new MatcherThread(() => nowMs)
  const bomb = regex(BOMB)
  const first = thread.match(bomb, LONG_TEXT, FOR_EVER)
  await endTime()
  await first

  expect(await thread.match(bomb, SHORT_TEXT, FOR_EVER)).toBe(undefined)
  expect(await thread.match(bomb, SHORT_TEXT, { ...FOR_EVER, series: 'b' })).toBe(true)
  nowMs = 600_001
  expect(await thread.match(bomb, SHORT_TEXT, FOR_EVER)).toBe(true)
})

test('a check past its deadline matches nothing, and its pattern is not skipped later', async () => {
  thread = new MatcherThread(() => 1_000)

  expect(await thread.match(regex('ok'), 'ok', { ...FOR_EVER, deadlineMs: 1_000 })).toBe(undefined)
  expect(await thread.match(regex('ok'), 'ok', FOR_EVER)).toBe(true)
})

test('closing ends the waiting matches', async () => {
  thread = new MatcherThread()
  const waiting = thread.match(regex('ok'), 'ok', FOR_EVER)

  await thread.close()

  expect(await waiting).toBe(undefined)
})

test('matches reject while no thread can be started, also those behind one that ended its thread', async () => {
  const file = new URL('../../dist/pharos-matcher.js', import.meta.url)
  thread = new MatcherThread(undefined, file)
  await thread.match(regex('ok'), 'all ok', FOR_EVER)

  const bomb = thread.match(regex(BOMB), LONG_TEXT, FOR_EVER)
  const behind = thread.match(regex('ok'), 'all ok', FOR_EVER)
  // Node throws, as it does at a limit of processes.
  file.href = 'nowhere:'
  await endTime()
  const outcomes = await Promise.allSettled([bomb, behind])

  expect(outcomes).toEqual([
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: expect.any(TypeError) },
  ])
})
