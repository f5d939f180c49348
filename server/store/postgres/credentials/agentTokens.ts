import { ApiError } from '../../../../api/contract/apiError.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { AgentToken, AgentTokenStore, StoredAgentToken } from '../../monitoringStore.ts'
import { changeForAll } from '../writes/auditWrites.ts'
import type { Pools } from '../connections/pools.ts'
import { rowOf } from '../connections/sql.ts'

/** Tokens of agents in PostgreSQL. */
export function postgresAgentTokens({
  write,
  read,
}: Pick<Pools, 'write' | 'read'>): Omit<AgentTokenStore, 'noteAgents'> {
  return {
    createAgentToken: async ({ id, region, name, hash, last4, nowMs }) => {
      const done = `remote AS (INSERT INTO region_modes SELECT $2, 'remote'
          WHERE NOT EXISTS (SELECT 1 FROM agent_tokens WHERE region = $2 AND revoked_at IS NULL)
          ON CONFLICT (region) DO UPDATE SET mode = 'remote'),
        done AS (INSERT INTO agent_tokens (id, region, name, token_hash, last4, created_at)
          VALUES ($1, $2, $3, $4, $5, $6) RETURNING id)`
      const detail = { region, name, last4 }
      await changeForAll(
        write,
        { done, values: [id, region, name, hash, last4, timestamp(nowMs)] },
        { action: 'agent_token.create', targetId: id, nowMs, detail },
      )
    },
    listAgentTokens: async () => {
      const tokens = await read.rows<Omit<StoredAgentToken, 'sighting'>>(
        `SELECT id, region, name, last4, created_at AS "createdAt", revoked_at AS "revokedAt"
         FROM agent_tokens ORDER BY created_at, id`,
      )
      // Nothing is monitored with this store yet, so no agent was seen.
      return tokens.map((token) => ({ ...token, sighting: null }))
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
      await changeForAll(
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
  }
}
