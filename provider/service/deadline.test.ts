import { expect, test } from 'vitest'
import { withinTime } from './deadline.ts'

/** Work that ends only when its signal aborts, and then as the signal says. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

const none = { create: null, read: null, update: null, delete: null }
const open = new AbortController().signal

test('work that takes longer than its timeout ends with an error at the attribute that gives it more', async () => {
  const working = withinTime('create', { ...none, create: '1ms' }, open, endless)

  await expect(working).rejects.toMatchObject({
    diagnostics: [{ path: ['timeouts'], summary: 'The create timed out' }],
  })
})

test('an interrupted run ends work at once, for its own reason', async () => {
  const interrupt = new AbortController()

  const working = withinTime('read', null, interrupt.signal, endless)
  interrupt.abort(new Error('interrupted'))

  await expect(working).rejects.toThrow('interrupted')
})

test('work that ends in time passes its result, even with a timeout beyond what a timer can wait', async () => {
  const done = async (signal: AbortSignal): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve))
    return signal.aborted
  }

  expect(await withinTime('delete', { ...none, delete: '10000h' }, open, done)).toBe(false)
})
