import type { Database } from 'better-sqlite3'
import type { ChannelRef, StoredChannel } from '../../notificationStore.ts'
import { channelNotFound } from '../../shared/channelRules.ts'
import type { RecordAction } from '../changes/audit.ts'
import type { GroupCommit } from '../commits/groupCommit.ts'
import type { Announce } from './announce.ts'

/** A row of a channel. */
export type ChannelRow = Omit<StoredChannel, 'events' | 'serviceIds'> & {
  readonly events: string
  readonly serviceIds: string | null
}

/** Reads channels as rows. */
export const CHANNEL_SQL = `SELECT id, org_id AS orgId, kind, name, host, events, service_ids AS serviceIds, state,
  disabled_reason AS disabledReason, disabled_at_ms AS disabledAtMs, last_success_at_ms AS lastSuccessAtMs,
  created_at_ms AS createdAtMs FROM channels`

/** Finds the channel of a reference; throws `not_found` when there is none. */
export type FindChannel = (channel: ChannelRef) => ChannelRow

/** Prepares the search for channels on `database`. */
export function prepareFindChannel(database: Database): FindChannel {
  const find = database.prepare<[{ id: string; orgId: string | null }], ChannelRow>(
    `${CHANNEL_SQL} WHERE id = @id AND (@orgId IS NULL OR org_id = @orgId)`,
  )
  return ({ id, orgId }) => {
    const row = find.get({ id: id.toLowerCase(), orgId: orgId ?? null })
    if (row !== undefined) return row
    throw channelNotFound(id)
  }
}

/** Parts that channels share with the rest of the store. */
export interface ChannelParts {
  readonly commits: GroupCommit
  readonly announce: Announce
  readonly note: RecordAction
}

/** A channel of the store from its row. Pure. */
export function channelOfRow({ events, serviceIds, ...row }: ChannelRow): StoredChannel {
  return {
    ...row,
    events: JSON.parse(events),
    serviceIds: serviceIds === null ? null : JSON.parse(serviceIds),
  }
}
