import type { Database } from 'better-sqlite3'
import { ApiError } from '../../../../api/contract/apiError.ts'
import type { Actor } from '../../../domain/accounts/actor.ts'
import { CHANNELS_MAX, type SecretRole } from '../../../domain/notifications/channel.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { ChannelRef, NotificationStore, StoredChannel } from '../../notificationStore.ts'
import { noOrg } from '../../shared/noOrg.ts'
import type { NoteAct } from '../changes/audit.ts'
import type { GroupCommit } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'
import type { Announce } from './announce.ts'
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

function channelOfRow({ events, serviceIds, ...row }: ChannelRow): StoredChannel {
  return {
    ...row,
    events: JSON.parse(events),
    serviceIds: serviceIds === null ? null : JSON.parse(serviceIds),
  }
}

function prepareCreate(
  writer: Database,
  { commits, note }: ChannelParts,
): NotificationStore['createChannel'] {
  const count = writer.prepare<[string], number>('SELECT count(*) FROM channels WHERE org_id = ?').pluck()
  const org = writer.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const service = writer
    .prepare<[string, string], string>('SELECT id FROM services WHERE id = ? AND org_id = ?')
    .pluck()
  const insert = writer.prepare(
    `INSERT INTO channels (id, org_id, kind, name, host, events, service_ids, state, enabled_at_ms, created_at_ms)
     VALUES (@id, @orgId, @kind, @name, @host, @events, @serviceIds, 'active', @nowMs, @nowMs)`,
  )
  const activeKey = prepareActiveKey(writer)
  const put = preparePutSecret(writer)
  return (orgId, make, nowMs, by) =>
    commits.run(() => {
      if (org.get(orgId) === undefined) throw noOrg(orgId)
      if ((count.get(orgId) ?? 0) >= CHANNELS_MAX) {
        throw new ApiError('forbidden', `an organisation has at most ${CHANNELS_MAX} channels`)
      }
      const { sealed, events, serviceIds, ...channel } = make(activeKey())
      const foreign = serviceIds?.find((id) => service.get(id, orgId) === undefined)
      if (foreign !== undefined) {
        throw new ApiError('not_found', `the organisation has no service ${foreign}`)
      }
      commits.assertGrowth()
      const texts = { events: JSON.stringify(events), serviceIds: serviceIds && JSON.stringify(serviceIds) }
      insert.run({ ...channel, ...texts, orgId, nowMs })
      put(channel.id, 'target', sealed.target)
      if (sealed.secret !== null) put(channel.id, 'secret', sealed.secret)
      const { kind, name, host, id } = channel
      const detail = { kind, name, host, events, service_ids: serviceIds }
      note({ ...actOn({ id, orgId }, nowMs, by), action: 'channel.create', detail })
    })
}

function prepareRotate(
  writer: Database,
  { commits, note }: ChannelParts,
  find: FindChannel,
): NotificationStore['rotateSecret'] {
  const activeKey = prepareActiveKey(writer)
  const put = preparePutSecret(writer)
  const forget = writer.prepare("DELETE FROM sealed_secrets WHERE channel_id = ? AND role = 'old_secret'")
  const age = writer.prepare(
    "UPDATE sealed_secrets SET role = 'old_secret' WHERE channel_id = ? AND role = 'secret'",
  )
  const keep = writer.prepare('UPDATE channels SET old_secret_until_ms = ? WHERE id = ?')
  return (ref, make, { nowMs, oldUntilMs }) =>
    commits.run(() => {
      const channel = find(ref)
      if (channel.kind === 'slack') {
        throw new ApiError(
          'invalid',
          'a channel of kind slack has no secret: create another with the new URL',
        )
      }
      commits.assertGrowth()
      forget.run(channel.id)
      age.run(channel.id)
      put(channel.id, 'secret', make(channel, activeKey()))
      keep.run(oldUntilMs, channel.id)
      note({ ...actOn(channel, nowMs, ref.by), action: 'channel.rotate' })
    })
}

function prepareActiveKey(writer: Database): () => string {
  const select = writer.prepare<[], string>('SELECT id FROM master_keys WHERE is_active = 1').pluck()
  return () => {
    const id = select.get()
    if (id === undefined) throw new Error('no master key is active')
    return id
  }
}

function preparePutSecret(writer: Database) {
  const insert = writer.prepare<[SealedValue & { channelId: string; role: SecretRole }]>(
    `INSERT INTO sealed_secrets (key_id, org_id, channel_id, role, slot, master_key_id, wrap_nonce, wrapped_key, nonce,
       ciphertext)
     VALUES (@keyId, @orgId, @channelId, @role, @slot, @masterKeyId, @wrapNonce, @wrappedKey, @nonce, @ciphertext)`,
  )
  return (channelId: string, role: SecretRole, sealed: SealedValue): void => {
    insert.run({ ...sealed, channelId, role })
  }
}
