import { ApiError } from '../../../../api/contract/apiError.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { AgentReport, AgentToken, AgentTokenStore, StoredAgentToken } from '../../monitoringStore.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf } from '../connections/sql.ts'
import { changeForAllOrgs } from '../writes/auditWrites.ts'

/** Tokens of agents in PostgreSQL. */
export function postgresAgentTokens({ write, read }: Pick<Pools, 'write' | 'read'>): AgentTokenStore {
  return {
    createAgentToken: async ({ id, region, name, hash, last4, nowMs }) => {
      const done = `remote AS (INSERT INTO region_modes SELECT $2, 'remote'
          WHERE NOT EXISTS (SELECT 1 FROM agent_tokens WHERE region = $2 AND revoked_at IS NULL)
          ON CONFLICT (region) DO UPDATE SET mode = 'remote'),
        done AS (INSERT INTO agent_tokens (id, region, name, token_hash, last4, created_at)
          VALUES ($1, $2, $3, $4, $5, $6) RETURNING id)`
      const detail = { region, name, last4 }
      await changeForAllOrgs(
        write,
        { done, values: [id, region, name, hash, last4, timestamp(nowMs)] },
        { action: 'agent_token.create', targetId: id, nowMs, detail },
      )
    },
    listAgentTokens: async () => {
      const rows = await read.rows<TokenRow>(
        `SELECT t.id, t.region, t.name, t.last4, t.created_at AS "createdAt", t.revoked_at AS "revokedAt",
           s.seen_at_ms AS "seenAtMs", s.agents, s.version, s.clock_ahead_ms AS "clockAheadMs", s.spooled,
           s.checks_in_flight AS "checksInFlight"
         FROM agent_tokens t LEFT JOIN agent_sightings s ON s.token_id = t.id ORDER BY t.created_at, t.id`,
      )
      return rows.map(({ id, region, name, last4, createdAt, revokedAt, ...report }) => ({
        ...{ id, region, name, last4, createdAt, revokedAt },
        report: report.seenAtMs === null ? null : { tokenId: id, ...report, seenAtMs: report.seenAtMs },
      }))
    },
    revokeAgentToken: async (id, nowMs) => {
      const detail = await rowOf<{ region: string; name: string }>(
        read,
        'SELECT region, name FROM agent_tokens WHERE id = $1',
        [id],
      )
      if (detail === undefined) throw new ApiError('not_found', `there is no agent token ${id}`)
      const done =
        'done AS (UPDATE agent_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id)'
      await changeForAllOrgs(
        write,
        { done, values: [id, timestamp(nowMs)] },
        { action: 'agent_token.revoke', targetId: id, nowMs, detail: { ...detail } },
      )
    },
    agentTokenOf: async (hash) =>
      await rowOf<AgentToken>(
        read,
        'SELECT id, region, name FROM agent_tokens WHERE token_hash = $1 AND revoked_at IS NULL',
        [hash],
      ),
    recordAgentReports: async (reports) => {
      const names = REPORT_COLUMNS.map(([column]) => column)
      const types = REPORT_COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`)
      await write.rows(
        `INSERT INTO agent_sightings (${names.join(', ')}) SELECT u.*
         FROM unnest(${types.join(', ')}) AS u (${names.join(', ')})
         WHERE EXISTS (SELECT FROM agent_tokens t WHERE t.id = u.token_id)
         ON CONFLICT (token_id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
        REPORT_COLUMNS.map(([, , field]) => reports.map((report) => report[field])),
      )
    },
  }
}

/** A token with the last report of its agents; `seenAtMs` is `null` for a token without a report. */
type TokenRow = Omit<StoredAgentToken, 'report'> &
  Omit<AgentReport, 'tokenId' | 'seenAtMs'> & { readonly seenAtMs: number | null }

const REPORT_COLUMNS = [
  ['token_id', 'text', 'tokenId'],
  ['seen_at_ms', 'bigint', 'seenAtMs'],
  ['agents', 'integer', 'agents'],
  ['version', 'text', 'version'],
  ['clock_ahead_ms', 'bigint', 'clockAheadMs'],
  ['spooled', 'integer', 'spooled'],
  ['checks_in_flight', 'integer', 'checksInFlight'],
] as const
