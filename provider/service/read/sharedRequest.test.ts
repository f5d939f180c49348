import { expect, test } from 'vitest'
import { FAILURE_BELIEVED_MS, SharedRequest } from './sharedRequest.ts'

const open = new AbortController().signal

/** A request without a response, on a stopped clock. It fails with the reason of its signal. */
function hangingRequest() {
  const clock = { nowMs: 0 }
  const signals: AbortSignal[] = []
  const ask = (signal: AbortSignal): Promise<never> => {
    signals.push(signal)
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  return { once: new SharedRequest(ask, () => clock.nowMs), clock, signals }
}

test('concurrent calls share one result, until it is dropped', async () => {
  let asked = 0
  const once = new SharedRequest(async () => (asked += 1))

  const before = once.isRequested
  const shared = await Promise.all([once.result(open), once.result(open), once.result(open)])
  once.forget()

  expect([before, once.isRequested]).toEqual([false, false])
  expect(shared).toEqual([1, 1, 1])
  expect(await once.result(open)).toBe(2)
})

test('a failure is reused for a while, and then the request is repeated', async () => {
  let nowMs = 0
  let asked = 0
  const once = new SharedRequest(
    async () => {
      asked += 1
      if (asked === 1) throw new Error('not now')
      return asked
    },
    () => nowMs,
  )

  await expect(once.result(open)).rejects.toThrow('not now')
  nowMs = FAILURE_BELIEVED_MS - 1
  await expect(once.result(open)).rejects.toThrow('not now')
  nowMs = FAILURE_BELIEVED_MS

  expect(await once.result(open)).toBe(2)
})

test('a cancelled call ends at once, and the others get their result', async () => {
  let say: (text: string) => void = () => {}
  const once = new SharedRequest(() => new Promise<string>((resolve) => (say = resolve)))
  const controller = new AbortController()

  const impatient = once.result(controller.signal)
  const patient = once.result(open)
  controller.abort(new Error('given up'))
  await expect(impatient).rejects.toThrow('given up')
  await expect(once.result(controller.signal)).rejects.toThrow('given up')
  say('here')

  expect(await patient).toBe('here')
})

test('cancelling the last call ends the request, and the next call starts another', async () => {
  const { once, signals } = hangingRequest()
  const [first, second] = [new AbortController(), new AbortController()]

  const calls = Promise.allSettled([once.result(first.signal), once.result(second.signal)])
  first.abort(new Error('one'))
  const afterOne = signals.map(({ aborted }) => aborted)
  second.abort(new Error('two'))
  await calls
  void once.result(open).catch(() => undefined)

  expect(afterOne).toEqual([false])
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})

test('a request that was cancelled after a long wait fails the next calls too', async () => {
  const { once, clock, signals } = hangingRequest()
  const giveUp = new AbortController()

  const waiting = once.result(giveUp.signal)
  clock.nowMs = FAILURE_BELIEVED_MS
  giveUp.abort(new Error('too long'))
  await expect(waiting).rejects.toThrow('too long')

  await expect(once.result(open)).rejects.toThrow('too long')
  expect(signals.length).toBe(1)
})

test('a result stays available after a later call was cancelled', async () => {
  let asked = 0
  const once = new SharedRequest(async () => (asked += 1))
  await once.result(open)

  await expect(once.result(AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')

  expect(await once.result(open)).toBe(1)
})
