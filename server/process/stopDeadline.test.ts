import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from './requestLog.ts'
import { enforceStopDeadline } from './stopDeadline.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('a process that has not stopped after 9 s logs it, and is killed a quarter of a second later', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const lines: string[] = []
  enforceStopDeadline(createLog({ write: (line) => lines.push(line) }, 'info'))
  const seen = [8_999, 1, 249, 1].map((ms) => {
    vi.advanceTimersByTime(ms)
    return [lines.length, kill.mock.calls.length]
  })

  expect(seen).toEqual([
    [0, 0],
    [1, 0],
    [1, 0],
    [1, 1],
  ])
  expect(kill.mock.calls).toEqual([[process.pid, 'SIGKILL']])
})

test('the deadline neither keeps a process that has stopped, nor kills it while its line is written', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
  const timers = vi.spyOn(globalThis, 'setTimeout')
  enforceStopDeadline(createLog({ write: () => {} }, 'info'))
  vi.advanceTimersByTime(9_000)

  expect(timers.mock.results.map(({ value }) => value.hasRef())).toEqual([false, false])
  expect(kill).not.toHaveBeenCalled()
})
