import { expect, test } from 'vitest'
import { shownAgentToken } from './agentStates.ts'

const NOW_MS = Date.parse('2026-01-01T00:10:00Z')
const TOKEN = {
  ...{ id: 'token', region: 'eu-west-1', name: 'dublin-1', last4: '0a1b' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', revokedAt: null },
}
const seenBefore = (ms: number, agents = 2) => ({
  ...{ tokenId: 'token', seenAtMs: NOW_MS - ms, agents, version: '1.0.0' },
  ...{ clockAheadMs: -1_540, spooled: 7, checksInFlight: 3 },
})

test.each([
  ['unused', null, null, 0],
  ['connected', seenBefore(30_000), null, 2],
  ['away', seenBefore(30_000, 0), null, 0],
  // As when the server does not run.
  ['away', seenBefore(120_000), null, 0],
  ['revoked', seenBefore(30_000), '2026-01-01T00:09:00.000Z', 0],
  ['revoked', null, '2026-01-01T00:09:00.000Z', 0],
])('a token is %s by the last reports of its agents', (state, report, revokedAt, agents) => {
  const shown = shownAgentToken({ ...TOKEN, report, revokedAt }, NOW_MS)

  expect([shown.state, shown.agents]).toEqual([state, agents])
})
