import { expect, test } from 'vitest'
import { shownAgentToken } from '../agents/agentStates.ts'
import { agentTable } from './agentCommands.ts'

test('a row shows the clock in seconds, and - for values that no agent has reported yet', () => {
  const seenAtMs = Date.parse('2026-01-01T00:09:30Z')
  const createdAt = '2026-01-01T00:00:00.000Z'
  const token = {
    id: 'token',
    region: 'eu-west-1',
    name: 'dublin-1',
    last4: '0a1b',
    createdAt,
    revokedAt: null,
  }
  const report = {
    ...{ tokenId: 'token', seenAtMs, agents: 2, version: '1.0.0' },
    ...{ clockAheadMs: -1_540, spooled: 7, checksInFlight: 3 },
  }
  const used = shownAgentToken({ ...token, report }, seenAtMs)
  const unused = shownAgentToken({ ...token, report: null }, seenAtMs)

  const [, ...rows] = agentTable([used, unused]).split('\n')

  const own = ['token', 'eu-west-1', 'dublin-1', '0a1b']
  const said = ['2026-01-01T00:09:30.000Z', '1.0.0', '2', '-1.5 s', '7', '3']
  expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
    [...own, 'connected', ...said, createdAt, '-'],
    [...own, 'unused', '-', '-', '0', '-', '-', '-', createdAt, '-'],
  ])
})
