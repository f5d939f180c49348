import { expect, test } from 'vitest'
import { WaitObserver } from './waiting.ts'

test('a wait starts with the first call in flight, and again with each usable response', async () => {
  let nowMs = 5
  const observer = new WaitObserver(() => nowMs)
  expect(observer.waiting).toBe(null)
  let end = (): void => {}
  const call = observer.during(
    () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  )

  nowMs = 20
  expect(observer.waiting).toEqual({ sinceMs: 5, kind: 'silent', reason: 'there is no response' })
  observer.failed('throttled', 'it responded with 429')
  expect(observer.waiting).toEqual({ sinceMs: 5, kind: 'throttled', reason: 'it responded with 429' })
  observer.responded()
  expect(observer.waiting).toMatchObject({ sinceMs: 20, kind: 'silent' })
  end()
  await call
  expect(observer.waiting).toBe(null)
})
