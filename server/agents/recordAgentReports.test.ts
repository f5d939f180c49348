import { expect, test } from 'vitest'
import { IDLE_SYNC } from '../../monitoring/agent/testing/idleSync.ts'
import { makeKeyPair } from '../../monitoring/protocol/sessionSeal.ts'
import type { AgentReport } from '../store/monitoringStore.ts'
import { Members } from './members.ts'
import { agentReportRecorder } from './recordAgentReports.ts'

test('numbers above the largest that every database can store are reported as that number', async () => {
  const members = new Members(() => 1_000, 1)
  const load = { ...IDLE_SYNC.load, in_flight: 2 ** 40, spooled: 2 ** 40 }
  const { publicKey } = makeKeyPair()
  const token = { id: 'token', region: 'eu-west-1', name: 'dublin' }
  members.join({ instance: 'a', token, publicKey, version: '1.0.0', load })
  const recorded: AgentReport[] = []
  const store = {
    recordAgentReports: async (reports: readonly AgentReport[]) => {
      recorded.push(...reports)
    },
  }

  await agentReportRecorder({ members, store, nowMs: () => 2_000, monotonicMs: () => 1_000 })()

  expect(recorded).toMatchObject([{ spooled: 2 ** 31 - 1, checksInFlight: 2 ** 31 - 1 }])
})
