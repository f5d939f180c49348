import { expect, test } from 'vitest'
import { type Attempt, PasswordThrottle } from './passwordThrottle.ts'

const stranger = (network: string, email: string): Attempt => ({ kind: 'stranger', network, email })

/** A throttle, its clock, and the results of `count` attempts one after another. */
function setUp() {
  const clock = { nowMs: 0 }
  const throttle = new PasswordThrottle(() => clock.nowMs)
  const results = async (count: number, attempt: (index: number) => Attempt, isRight = false) => {
    const kinds: string[] = []
    for (let index = 0; index < count; index += 1) {
      kinds.push((await throttle.attempt(attempt(index), async () => isRight)).kind)
    }
    return kinds
  }
  return { clock, throttle, results }
}

const repeated = (count: number, kind: string) => Array.from({ length: count }, () => kind)

test('an account may have ten wrong passwords, from any network, and one more each minute', async () => {
  const { clock, throttle, results } = setUp()
  const attempt = (index: number) => stranger(`10.0.0.${index}`, 'a@example.org')
  const first = await results(11, attempt)
  const refused = await throttle.attempt(attempt(99), async () => true)
  clock.nowMs += 60_000
  const later = await results(2, attempt)

  expect(first).toEqual([...repeated(10, 'wrong'), 'refused'])
  expect(refused).toEqual({ kind: 'refused', waitS: 60 })
  expect(later).toEqual(['wrong', 'refused'])
})

test('a network may have twenty wrong passwords for all accounts, and one more every three minutes', async () => {
  const { clock, results } = setUp()
  const attempt = (index: number) => stranger('10.0.0.1', `${index}@example.org`)
  const first = await results(22, attempt)
  clock.nowMs += 179_999
  const early = await results(1, attempt)
  clock.nowMs += 1
  const later = await results(2, attempt)

  expect(first).toEqual([...repeated(20, 'wrong'), 'refused', 'refused'])
  expect([early, later]).toEqual([['refused'], ['wrong', 'refused']])
})

test('of ten thousand attempts in an hour, at most twenty and one every three minutes are checked', async () => {
  const { clock, results } = setUp()
  const kinds: string[] = []
  for (let index = 0; index < 10_000; index += 1) {
    clock.nowMs += 360
    kinds.push(...(await results(1, () => stranger('10.0.0.1', `${index % 50}@example.org`))))
  }

  // Twenty at once, and those of the 19 intervals that ended before the last attempt.
  expect(kinds.filter((kind) => kind === 'wrong').length).toBe(39)
})

test('correct passwords cost nothing, and wrong ones of others do not limit a known device or a session', async () => {
  const { results } = setUp()
  const email = 'a@example.org'
  const right = await results(30, () => stranger('10.0.0.1', email), true)
  await results(15, () => stranger('10.0.0.1', email))
  const device = await results(11, () => ({ kind: 'device', device: 'd' }))
  const person = await results(11, () => ({ kind: 'person', personId: 'p' }))

  expect(right).toEqual(repeated(30, 'right'))
  expect(device).toEqual([...repeated(10, 'wrong'), 'refused'])
  expect(person).toEqual([...repeated(10, 'wrong'), 'refused'])
})

test('a text that is too long for an address is identified by its beginning', async () => {
  const { results } = setUp()
  const beginning = 'a'.repeat(254)

  expect(await results(11, (index) => stranger(`10.0.0.${index}`, `${beginning}${index}`))).toEqual([
    ...[...repeated(10, 'wrong'), 'refused'],
  ])
})

test('attempts at the same moment count before they are checked', async () => {
  const { throttle } = setUp()
  const results = await Promise.all(
    Array.from({ length: 50 }, () =>
      throttle.attempt(stranger('10.0.0.1', 'a@example.org'), async () => false),
    ),
  )

  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(10)
})

test('an attempt that could not be checked costs nothing', async () => {
  const { throttle, results } = setUp()
  const attempt = stranger('10.0.0.1', 'a@example.org')
  const busy = () => throttle.attempt(attempt, () => Promise.reject(new Error('busy')))
  for (let index = 0; index < 30; index += 1) await expect(busy()).rejects.toThrow('busy')

  expect(await results(11, () => attempt)).toEqual([...repeated(10, 'wrong'), 'refused'])
})
