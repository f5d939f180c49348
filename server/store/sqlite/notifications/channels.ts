import type { Database } from 'better-sqlite3'
import { ApiError } from '../../../../api/contract/apiError.ts'
import type { Actor } from '../../../domain/accounts/actor.ts'
import type { ChannelRef, NotificationStore, StoredChannel } from '../../notificationStore.ts'
import { noOrg } from '../../shared/noOrg.ts'
import type { NoteAct } from '../changes/audit.ts'
import type { GroupCommit } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'
import type { Announce } from './announce.ts'
import { prepareChange, prepareCreate, prepareRotate, prepareShowSecret } from './channelWrites.ts'
import { prepareDisable } from './disable.ts'

/** A channel as SQLite reads it. */
export type ChannelRow = Omit<StoredChannel, 'events' | 'serviceIds'> & {
  readonly events: string
  readonly serviceIds: string | null
}

const CHANNEL_SQL = `SELECT id, org_id AS orgId, kind, name, host, events, service_ids AS serviceIds, state,
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
    throw new ApiError('not_found', `there is no channel ${id}`)
  }
}

type ChannelMethods =
  | 'createChannel'
  | 'listChannels'
  | 'rotateSecret'
  | 'changeChannel'
  | 'showSecret'
  | 'setChannelState'
  | 'deleteChannel'
  | 'testChannel'

/** Parts that channels share with the rest of the store. */
export interface ChannelParts {
  readonly commits: GroupCommit
  readonly announce: Announce
  readonly note: NoteAct
}

/** Notification channels in SQLite. */
export function sqliteChannels(
  connections: Connections,
  parts: ChannelParts,
): Pick<NotificationStore, ChannelMethods> {
  const { reader, writer } = connections
  const { commits, announce, note } = parts
  const find = prepareFindChannel(writer)
  const org = reader.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const list = reader.prepare<[string], ChannelRow>(
    `${CHANNEL_SQL} WHERE org_id = ? ORDER BY created_at_ms, id`,
  )
  const remove = writer.prepare('DELETE FROM channels WHERE id = ?')
  const enable = writer.prepare(
    `UPDATE channels SET state = 'active', disabled_reason = NULL, disabled_at_ms = NULL, enabled_at_ms = ? WHERE id = ?`,
  )
  const disable = prepareDisable(writer, note)
  return {
    createChannel: prepareCreate(writer, parts),
    listChannels: async (orgId) => {
      if (org.get(orgId) === undefined) throw noOrg(orgId)
      return list.all(orgId).map(channelOfRow)
    },
    rotateSecret: prepareRotate(writer, parts, find),
    changeChannel: prepareChange(writer, parts, find),
    showSecret: prepareShowSecret(writer, parts, find),
    setChannelState: (ref, state, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        if (channel.state === state) return
        if (state === 'disabled')
          return disable(channel, { reason: 'disabled by hand', by: ref.by ?? CLI, nowMs })
        enable.run(nowMs, channel.id)
        note({ ...actOn(channel, nowMs, ref.by), action: 'channel.enable' })
      }),
    deleteChannel: (ref, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        remove.run(channel.id)
        note({ ...actOn(channel, nowMs, ref.by), action: 'channel.delete', detail: { name: channel.name } })
      }),
    testChannel: (ref, nowMs) =>
      commits.run(() => {
        const channel = find(ref)
        assertActive(channel)
        note({ ...actOn(channel, nowMs, ref.by), action: 'channel.test' })
        return announce.test(channel.orgId, channel)
      }),
  }
}

/** Throws `invalid` when `channel` is disabled. */
export function assertActive({ state, disabledReason }: ChannelRow): void {
  if (state === 'active') return
  throw new ApiError('invalid', `the channel is disabled (${disabledReason}): enable it first`)
}

const CLI = { kind: 'cli' } as const

/** An act on `channel`, of the command line unless `by` says who. */
export function actOn({ id, orgId }: Pick<ChannelRow, 'id' | 'orgId'>, nowMs: number, by: Actor = CLI) {
  return { orgId, targetId: id, by, nowMs } as const
}

/** A channel of the store from its row. Pure. */
export function channelOfRow({ events, serviceIds, ...row }: ChannelRow): StoredChannel {
  return {
    ...row,
    events: JSON.parse(events),
    serviceIds: serviceIds === null ? null : JSON.parse(serviceIds),
  }
}
