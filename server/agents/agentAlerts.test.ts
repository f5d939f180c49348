import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentStats.ts'
import { createLog } from '../process/requestLog.ts'
import { logAlerts } from './agentAlerts.ts'

/** Messages that reports of one agent with these changes lead to, in order. */
function logged(reports: readonly Partial<AgentLoad>[]): readonly string[] {
  const messages: string[] = []
  const log = createLog(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        messages.push(JSON.parse(chunk.toString()).msg)
        done()
      },
    }),
    'info',
  )
  const name = { region: 'eu-west-1', agent: 'dublin-1', instance: 'a' }
  let before: AgentLoad | undefined
  for (const changes of reports) {
    const load = { ...IDLE_SYNC.load, ...changes }
    logAlerts(log, name, before, load)
    before = load
  }
  return messages
}

test('a clock that is wrong by more than 30 s, in either direction, is logged once until it is correct', () => {
  const reports = [30_000, 30_001, 3_600_000, 0, -30_001].map((clock_ahead_ms) => ({ clock_ahead_ms }))

  expect(logged(reports)).toEqual(Array(2).fill("the clock of an agent's machine is wrong"))
})

test('an agent that suspects its own network is logged once, and once when it stops', () => {
  const reports = [false, true, true, false, false].map((suspect) => ({ suspect }))

  expect(logged(reports)).toEqual([
    'an agent reaches almost none of its hosts: its results are unknown',
    'an agent reaches its hosts again',
  ])
})
