import { ApiError } from '../../../api/contract/apiError.ts'
import { timestamp } from '../../domain/environment.ts'
import type { AgentReport, AgentToken, AgentTokenStore, StoredAgentToken } from '../monitoringStore.ts'
import { recordForAllOrgs } from '../scripts/auditScripts.ts'
import { count, row, rows, run, type Scripts } from '../scripts/script.ts'
import { setMode } from './regionModes.ts'

/** A token with the last report of its agents; `seenAtMs` is `null` for a token without a report. */
type TokenRow = Omit<StoredAgentToken, 'report'> &
  Omit<AgentReport, 'tokenId' | 'seenAtMs'> & { readonly seenAtMs: number | null }

/** Tokens of agents. */
export function agentTokens({ read, write, inTransaction }: Scripts): AgentTokenStore {
  return {
    createAgentToken: ({ id, region, name, hash, last4, nowMs }) =>
      inTransaction(function* () {
        const active = yield* count('agent_tokens WHERE region = $1 AND revoked_at IS NULL', [region])
        if (active === 0) yield* setMode(region, 'remote')
        yield* run(
          `INSERT INTO agent_tokens (id, region, name, token_hash, last4, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
          [id, region, name, hash, last4, timestamp(nowMs)],
        )
        const detail = { region, name, last4 }
        yield* recordForAllOrgs({ action: 'agent_token.create', targetId: id, nowMs, detail })
      }),
    listAgentTokens: () =>
      read(function* () {
        const found = yield* rows<TokenRow>(
          `SELECT t.id, t.region, t.name, t.last4, t.created_at AS "createdAt", t.revoked_at AS "revokedAt",
             s.seen_at_ms AS "seenAtMs", s.agents, s.version, s.clock_ahead_ms AS "clockAheadMs", s.spooled,
             s.checks_in_flight AS "checksInFlight"
           FROM agent_tokens t LEFT JOIN agent_sightings s ON s.token_id = t.id ORDER BY t.created_at, t.id`,
          [],
        )
        return found.map(({ id, region, name, last4, createdAt, revokedAt, ...report }) => ({
          ...{ id, region, name, last4, createdAt, revokedAt },
          report: report.seenAtMs === null ? null : { tokenId: id, ...report, seenAtMs: report.seenAtMs },
        }))
      }),
    revokeAgentToken: (id, nowMs) =>
      inTransaction(function* () {
        const select = 'SELECT region, name FROM agent_tokens WHERE id = $1'
        const detail = yield* row<{ region: string; name: string }>(select, [id])
        if (detail === undefined)
          throw new ApiError(
            'not_found',
            `there is no agent token ${id}: "pharos-server agent list" shows them`,
          )
        const text =
          'UPDATE agent_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING id'
        if ((yield* row(text, [id, timestamp(nowMs)])) === undefined) return
        yield* recordForAllOrgs({ action: 'agent_token.revoke', targetId: id, nowMs, detail: { ...detail } })
      }),
    agentTokenOf: (hash) => {
      const text = 'SELECT id, region, name FROM agent_tokens WHERE token_hash = $1 AND revoked_at IS NULL'
      return read(() => row<AgentToken>(text, [hash]))
    },
    recordAgentReports: (reports) =>
      write(() =>
        run(
          `INSERT INTO agent_sightings (token_id, seen_at_ms, agents, version, clock_ahead_ms, spooled,
             checks_in_flight)
           SELECT value ->> 'tokenId', (value ->> 'seenAtMs')::bigint, (value ->> 'agents')::integer,
             value ->> 'version', (value ->> 'clockAheadMs')::bigint, (value ->> 'spooled')::integer,
             (value ->> 'checksInFlight')::integer
           FROM json_array_elements($1::json)
           WHERE EXISTS (SELECT 1 FROM agent_tokens t WHERE t.id = value ->> 'tokenId')
           ON CONFLICT (token_id) DO UPDATE SET seen_at_ms = excluded.seen_at_ms, agents = excluded.agents,
             version = excluded.version, clock_ahead_ms = excluded.clock_ahead_ms, spooled = excluded.spooled,
             checks_in_flight = excluded.checks_in_flight`,
          [JSON.stringify(reports)],
        ),
      ),
  }
}
