import { ApiError } from '../../../../api/contract/apiError.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { AgentReport, AgentTokenStore, StoredAgentToken } from '../../monitoringStore.ts'
import type { RecordForAllOrgs } from '../changes/audit.ts'
import type { Mutations } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'

/** Tokens of agents in SQLite. */
export function sqliteAgentTokens(
  { reader, writer }: Connections,
  { commits, noteForAll }: { readonly commits: Mutations; readonly noteForAll: RecordForAllOrgs },
): AgentTokenStore {
  const insert = writer.prepare(
    'INSERT INTO agent_tokens (id, region, name, token_hash, last4, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const active = writer
    .prepare<[string], number>('SELECT count(*) FROM agent_tokens WHERE region = ? AND revoked_at IS NULL')
    .pluck()
  const makeRemote = writer.prepare("INSERT OR REPLACE INTO region_modes VALUES (?, 'remote')")
  const list = reader.prepare<[], Omit<StoredAgentToken, 'report'>>(
    `SELECT id, region, name, last4, created_at AS createdAt, revoked_at AS revokedAt
     FROM agent_tokens ORDER BY created_at, id`,
  )
  const reports = reader.prepare<[], AgentReport>(
    `SELECT token_id AS tokenId, seen_at_ms AS seenAtMs, agents, version, clock_ahead_ms AS clockAheadMs, spooled,
       checks_in_flight AS checksInFlight FROM agent_sightings`,
  )
  const note = writer.prepare('INSERT OR REPLACE INTO agent_sightings VALUES (?, ?, ?, ?, ?, ?, ?)')
  const revoke = writer.prepare('UPDATE agent_tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL')
  const known = writer.prepare<[string], { region: string; name: string }>(
    'SELECT region, name FROM agent_tokens WHERE id = ?',
  )
  const find = reader.prepare<[Buffer], { id: string; region: string; name: string }>(
    'SELECT id, region, name FROM agent_tokens WHERE token_hash = ? AND revoked_at IS NULL',
  )
  return {
    createAgentToken: ({ id, region, name, hash, last4, nowMs }) =>
      commits.run(() => {
        if (active.get(region) === 0) makeRemote.run(region)
        insert.run(id, region, name, hash, last4, timestamp(nowMs))
        noteForAll({ action: 'agent_token.create', targetId: id, nowMs, detail: { region, name, last4 } })
      }),
    listAgentTokens: async () => {
      const seen = new Map(reports.all().map((report) => [report.tokenId, report]))
      return list.all().map((token) => ({ ...token, report: seen.get(token.id) ?? null }))
    },
    recordAgentReports: (seen) =>
      commits.run(() => {
        for (const { tokenId, seenAtMs, agents, version, clockAheadMs, spooled, checksInFlight } of seen) {
          note.run(tokenId, seenAtMs, agents, version, clockAheadMs, spooled, checksInFlight)
        }
      }),
    revokeAgentToken: (id, nowMs) =>
      commits.run(() => {
        const detail = known.get(id)
        if (detail === undefined) throw new ApiError('not_found', `there is no agent token ${id}`)
        const { changes } = revoke.run(timestamp(nowMs), id)
        if (changes > 0) noteForAll({ action: 'agent_token.revoke', targetId: id, nowMs, detail })
      }),
    agentTokenOf: async (hash) => find.get(hash),
  }
}
