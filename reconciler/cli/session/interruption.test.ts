import { EventEmitter } from 'node:events'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { interruptionOf, signalOf } from './interruption.ts'

/** A process that only hears signals, and what it ended with. */
class Signalled extends EventEmitter {
  ended: number | undefined
  exit(code: number): never {
    this.ended = code
    throw new Error('ended')
  }
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
])('the first %s requests a clean stop, and the second ends the program', (signal, exitCode) => {
  const process = new Signalled()
  const interruption = interruptionOf(process)
  let stops = 0
  interruption.onStop(() => {
    stops += 1
  })

  process.emit(signal)
  expect([interruption.exitCode(), stops, process.ended]).toEqual([exitCode, 1, undefined])
  expect(() => process.emit(signal)).toThrow('ended')
  expect([stops, process.ended]).toEqual([1, exitCode])
})

test('the error for a signal names what was not done, and has the exit code of the signal', () => {
  const process = new Signalled()
  const interruption = interruptionOf(process)
  const signals = [signalOf(interruption), signalOf(interruption, 'the checks were not finished')]

  process.emit('SIGTERM')

  expect(signals.map(({ reason }) => [reason.message, reason.exitCode])).toEqual([
    ['interrupted: no service was changed', 143],
    ['interrupted: the checks were not finished', 143],
  ])
})

test('many checks may wait for a signal without a warning of Node', async () => {
  const signalled = new Signalled()
  const signal = signalOf(interruptionOf(signalled))
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  const waits = Array.from({ length: 20 }, () => sleep(60_000, undefined, { signal }))
  await nextTurn()

  signalled.emit('SIGINT')
  const ended = await Promise.allSettled(waits)
  process.off('warning', note)

  expect(ended.map(({ status }) => status)).toEqual(waits.map(() => 'rejected'))
  expect(warnings).toEqual([])
})
