import type { ChannelRef, StoredChannel } from '../../notificationStore.ts'
import { channelNotFound } from '../../shared/channelRules.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import { rowOf, type Sql } from '../connections/sql.ts'
import type { StoreParts } from '../writes/storeParts.ts'

/** Reads channels. */
export const SELECT_CHANNELS = `SELECT id, org_id AS "orgId", kind, name, host, events, service_ids AS "serviceIds",
  state, disabled_reason AS "disabledReason", disabled_at_ms AS "disabledAtMs",
  last_success_at_ms AS "lastSuccessAtMs", created_at_ms AS "createdAtMs" FROM channels`

/** The channel of a reference; rejects with `not_found` when there is none. */
export async function findChannel(sql: Sql, { id, orgId }: ChannelRef): Promise<StoredChannel> {
  const row = await rowOf<StoredChannel>(sql, `${SELECT_CHANNELS} WHERE id = $1`, [
    uuidOrNull(id.toLowerCase()),
  ])
  if (row === undefined || (orgId !== undefined && row.orgId !== orgId)) throw channelNotFound(id)
  return row
}

/** Runs `work` in a transaction that locks a channel and its organisation. Rejects with `not_found` without a channel. */
export type ChangeChannel = <Result>(
  ref: ChannelRef,
  work: (sql: Sql, channel: StoredChannel) => Promise<Result>,
) => Promise<Result>

/** Transactions that lock a channel. Deliveries are always locked after their channel. */
export function channelChanger({ pools: { read }, queues }: StoreParts): ChangeChannel {
  return async (ref, work) => {
    const { orgId, id } = await findChannel(read, ref)
    return await queues.withOrgLocked(orgId, channelNotFound(ref.id), async (sql) => {
      await sql.rows('SELECT FROM channels WHERE id = $1 FOR NO KEY UPDATE', [id])
      return await work(sql, await findChannel(sql, ref))
    })
  }
}
