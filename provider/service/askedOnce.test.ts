import { expect, test } from 'vitest'
import { AskedOnce, FAILURE_BELIEVED_MS } from './askedOnce.ts'

test('all who want to know share one answer, until it is forgotten', async () => {
  let asked = 0
  const once = new AskedOnce(async () => (asked += 1))

  const before = once.isAsked
  const shared = await Promise.all([once.answer(), once.answer(), once.answer()])
  once.forget()

  expect([before, once.isAsked]).toEqual([false, false])
  expect(shared).toEqual([1, 1, 1])
  expect(await once.answer()).toBe(2)
})

test('a failure is believed for a while and then asked about again', async () => {
  let nowMs = 0
  let asked = 0
  const once = new AskedOnce(
    async () => {
      asked += 1
      if (asked === 1) throw new Error('not now')
      return asked
    },
    () => nowMs,
  )

  await expect(once.answer()).rejects.toThrow('not now')
  nowMs = FAILURE_BELIEVED_MS - 1
  await expect(once.answer()).rejects.toThrow('not now')
  nowMs = FAILURE_BELIEVED_MS

  expect(await once.answer()).toBe(2)
})

test('whoever gives up does so at once, and the others get their answer', async () => {
  let say: (text: string) => void = () => {}
  const once = new AskedOnce(() => new Promise<string>((resolve) => (say = resolve)))
  const controller = new AbortController()

  const impatient = once.answer(controller.signal)
  const patient = once.answer(new AbortController().signal)
  controller.abort(new Error('given up'))
  await expect(impatient).rejects.toThrow('given up')
  await expect(once.answer(controller.signal)).rejects.toThrow('given up')
  say('here')

  expect(await patient).toBe('here')
})
