import type { Database } from 'better-sqlite3'
import type { SecretRole } from '../../../domain/notifications/channel.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { NotificationStore } from '../../notificationStore.ts'
import { addedServices, assertMayAddChannel, assertSigns, channelAction } from '../../shared/channelRules.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import { serviceNotFound } from '../../shared/serviceNotFound.ts'
import { type ChannelParts, channelOfRow, type FindChannel } from './channelRows.ts'

/** Prepares `createChannel`. */
export function prepareCreate(
  writer: Database,
  { commits, note }: ChannelParts,
): NotificationStore['createChannel'] {
  const count = writer.prepare<[string], number>('SELECT count(*) FROM channels WHERE org_id = ?').pluck()
  const org = writer.prepare<[string], string>('SELECT id FROM orgs WHERE id = ?').pluck()
  const insert = writer.prepare(
    `INSERT INTO channels (id, org_id, kind, name, host, events, service_ids, state, enabled_at_ms, created_at_ms)
     VALUES (@id, @orgId, @kind, @name, @host, @events, @serviceIds, 'active', @nowMs, @nowMs)`,
  )
  const assertOwn = prepareAssertOwn(writer)
  const activeKey = prepareActiveKey(writer)
  const put = preparePutSecret(writer)
  return (orgId, make, nowMs, by) =>
    commits.run(() => {
      if (org.get(orgId) === undefined) throw orgNotFound(orgId)
      assertMayAddChannel(count.get(orgId) ?? 0)
      const { sealed, events, serviceIds, ...channel } = make(activeKey())
      assertOwn(orgId, serviceIds)
      commits.assertGrowth()
      const texts = { events: JSON.stringify(events), serviceIds: serviceIds && JSON.stringify(serviceIds) }
      insert.run({ ...channel, ...texts, orgId, nowMs })
      put(channel.id, 'target', sealed.target)
      if (sealed.secret !== null) put(channel.id, 'secret', sealed.secret)
      const { kind, name, host, id } = channel
      const detail = { kind, name, host, events, service_ids: serviceIds }
      note(channelAction('create', { channel: { id, orgId }, nowMs, by, detail }))
    })
}

/** Prepares `rotateSecret`. */
export function prepareRotate(
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
      assertSigns(channel)
      commits.assertGrowth()
      forget.run(channel.id)
      age.run(channel.id)
      put(channel.id, 'secret', make(channel, activeKey()))
      keep.run(oldUntilMs, channel.id)
      note(channelAction('rotate', { channel, nowMs, by: ref.by }))
    })
}

/** Prepares `changeChannel`. */
export function prepareChange(
  writer: Database,
  { commits, note }: ChannelParts,
  find: FindChannel,
): NotificationStore['changeChannel'] {
  const update = writer.prepare(
    'UPDATE channels SET name = @name, host = @host, events = @events, service_ids = @serviceIds WHERE id = @id',
  )
  const forgetTarget = writer.prepare("DELETE FROM sealed_secrets WHERE channel_id = ? AND role = 'target'")
  const assertOwn = prepareAssertOwn(writer)
  const activeKey = prepareActiveKey(writer)
  const put = preparePutSecret(writer)
  return (ref, decide, nowMs) =>
    commits.run(() => {
      const before = channelOfRow(find(ref))
      const { id, orgId } = before
      const { name, events, serviceIds, target } = decide(before, activeKey())
      assertOwn(orgId, addedServices(before, serviceIds))
      commits.assertGrowth()
      const host = target?.host ?? before.host
      const texts = { events: JSON.stringify(events), serviceIds: serviceIds && JSON.stringify(serviceIds) }
      update.run({ id, name, host, ...texts })
      if (target !== undefined) {
        forgetTarget.run(id)
        put(id, 'target', target.sealed)
      }
      const detail = { name, host, events, service_ids: serviceIds, has_new_url: target !== undefined }
      note(channelAction('update', { channel: before, nowMs, by: ref.by, detail }))
    })
}

/** Prepares `showSecret`. */
export function prepareShowSecret(
  writer: Database,
  { commits, note }: ChannelParts,
  find: FindChannel,
): NotificationStore['showSecret'] {
  const secret = writer.prepare<[string], SealedValue>(
    `SELECT key_id AS keyId, org_id AS orgId, '' AS serviceId, '' AS endpointId, slot, master_key_id AS masterKeyId,
       wrap_nonce AS wrapNonce, wrapped_key AS wrappedKey, nonce, ciphertext
     FROM sealed_secrets WHERE channel_id = ? AND role = 'secret'`,
  )
  return (ref, nowMs) =>
    commits.run(() => {
      const channel = find(ref)
      assertSigns(channel)
      const sealed = secret.get(channel.id)
      if (sealed === undefined) throw new Error(`the channel ${channel.id} has no signing secret`)
      note(channelAction('show_secret', { channel, nowMs, by: ref.by }))
      return sealed
    })
}

function prepareAssertOwn(writer: Database) {
  const service = writer
    .prepare<[string, string], string>('SELECT id FROM services WHERE id = ? AND org_id = ?')
    .pluck()
  return (orgId: string, serviceIds: readonly string[] | null): void => {
    const foreign = serviceIds?.find((id) => service.get(id, orgId) === undefined)
    if (foreign !== undefined) throw serviceNotFound(foreign)
  }
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
