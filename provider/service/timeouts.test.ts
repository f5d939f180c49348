import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withinTime } from './timeouts.ts'

/** Work that ends only when its signal aborts, with the signal's reason. */
const endless = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

const none = { create: null, read: null, update: null, delete: null }
const open = new AbortController().signal

test('an operation that exceeds its timeout fails with an error at the attribute that extends it', async () => {
  const working = withinTime({ operation: 'create', timeouts: { ...none, create: '1ms' } }, open, endless)

  await expect(working).rejects.toMatchObject({
    diagnostics: [{ path: ['timeouts', 'create'], summary: 'The create timed out' }],
  })
})

test('an interrupted run ends an operation at once, with the reason of the interruption', async () => {
  const interrupt = new AbortController()

  const working = withinTime({ operation: 'read', timeouts: null }, interrupt.signal, endless)
  interrupt.abort(new Error('interrupted'))

  await expect(working).rejects.toThrow('interrupted')
})

test('an operation that ends in time returns its result, even with a timeout beyond the maximum of a timer', async () => {
  const done = async (signal: AbortSignal): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve))
    return signal.aborted
  }

  const limit = { operation: 'delete', timeouts: { ...none, delete: '10000h' } } as const
  expect(await withinTime(limit, open, done)).toBe(false)
})

test('without a timeout argument, the default applies, and the error suggests no argument', async () => {
  const failure = await withinTime({ operation: 'read', defaultMs: 1 }, open, endless).catch((error) => error)

  expect(failure.diagnostics).toHaveLength(1)
  expect(failure.diagnostics[0]).not.toHaveProperty('path')
  expect(failure.diagnostics[0].detail).not.toContain('timeouts =')
})

test('an operation that fails by its own timer, because its timeout is over, counts as timed out', async () => {
  const sleep = (signal: AbortSignal): Promise<void> => wait(60_000, undefined, { signal })

  await expect(withinTime({ operation: 'read', defaultMs: 1 }, open, sleep)).rejects.toThrow(
    'The read timed out',
  )
})
