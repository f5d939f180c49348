import { randomUUID } from 'node:crypto'
import { orderedUuid } from '../../../domain/orderedUuid.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import type { NotificationStore, StoredChannel } from '../../notificationStore.ts'
import {
  addedServices,
  assertActive,
  assertMayAddChannel,
  assertSigns,
  CLI,
  channelAction,
  DISABLED_BY_HAND,
} from '../../shared/channelRules.ts'
import { testEvent } from '../../shared/events.ts'
import { orgNotFound } from '../../shared/orgNotFound.ts'
import { uuidOrNull } from '../../shared/uuid.ts'
import { countOf, rowOf } from '../connections/sql.ts'
import { recordAction } from '../writes/auditWrites.ts'
import { insertEvent } from '../writes/eventParts.ts'
import { assertOrg, assertOwnServices } from '../writes/ownership.ts'
import type { StoreParts } from '../writes/storeParts.ts'
import { type ChangeChannel, channelChanger, SELECT_CHANNELS } from './channelRows.ts'
import { disableChannel } from './disable.ts'
import { activeKey, putSecret, SEALED_SECRET_COLUMNS } from './secretRows.ts'

type Methods =
  | 'createChannel'
  | 'listChannels'
  | 'changeChannel'
  | 'setChannelState'
  | 'deleteChannel'
  | 'testChannel'

/** Notification channels in PostgreSQL. Their changes lock the organisation, as events for them do. */
export function postgresChannels(parts: StoreParts): Pick<NotificationStore, Methods | SecretMethods> {
  const {
    pools: { read },
    queues,
  } = parts
  const change = channelChanger(parts)
  return {
    createChannel: (orgId, make, nowMs, by) =>
      queues.withOrgLocked(orgId, orgNotFound(orgId), async (sql) => {
        assertMayAddChannel(await countOf(sql, 'channels WHERE org_id = $1', [orgId]))
        const { id, kind, name, host, events, serviceIds, sealed } = make(await activeKey(sql))
        await assertOwnServices(sql, orgId, serviceIds ?? [])
        await sql.rows(
          `INSERT INTO channels (id, org_id, kind, name, host, events, service_ids, state, enabled_at_ms, created_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $8)`,
          [id, orgId, kind, name, host, events, serviceIds, nowMs],
        )
        await putSecret(sql, id, 'target', sealed.target)
        if (sealed.secret !== null) await putSecret(sql, id, 'secret', sealed.secret)
        const detail = { kind, name, host, events, service_ids: serviceIds }
        await recordAction(sql, channelAction('create', { channel: { id, orgId }, nowMs, by, detail }))
      }),
    listChannels: async (orgId) => {
      const id = uuidOrNull(orgId)
      await assertOrg(read, orgId)
      const text = `${SELECT_CHANNELS} WHERE org_id = $1 ORDER BY created_at_ms, id`
      return await read.rows<StoredChannel>(text, [id])
    },
    changeChannel: (ref, decide, nowMs) =>
      change(ref, async (sql, before) => {
        const { id, orgId } = before
        const { name, events, serviceIds, target } = decide(before, await activeKey(sql))
        await assertOwnServices(sql, orgId, addedServices(before, serviceIds))
        const host = target?.host ?? before.host
        await sql.rows(
          'UPDATE channels SET name = $2, host = $3, events = $4, service_ids = $5 WHERE id = $1',
          [...[id, name, host, events, serviceIds]],
        )
        if (target !== undefined) await putSecret(sql, id, 'target', target.sealed)
        const detail = { name, host, events, service_ids: serviceIds, has_new_url: target !== undefined }
        await recordAction(sql, channelAction('update', { channel: before, nowMs, by: ref.by, detail }))
      }),
    setChannelState: (ref, state, nowMs) =>
      change(ref, async (sql, channel) => {
        if (channel.state === state) return
        if (state === 'disabled') {
          return await disableChannel(sql, channel, { reason: DISABLED_BY_HAND, by: ref.by ?? CLI, nowMs })
        }
        await sql.rows(
          `UPDATE channels SET state = 'active', disabled_reason = NULL, disabled_at_ms = NULL, enabled_at_ms = $2
           WHERE id = $1`,
          [channel.id, nowMs],
        )
        await recordAction(sql, channelAction('enable', { channel, nowMs, by: ref.by }))
      }),
    deleteChannel: (ref, nowMs) =>
      change(ref, async (sql, channel) => {
        await sql.rows('DELETE FROM channels WHERE id = $1', [channel.id])
        const detail = { name: channel.name }
        await recordAction(sql, channelAction('delete', { channel, nowMs, by: ref.by, detail }))
      }),
    testChannel: (ref, nowMs) =>
      change(ref, async (sql, channel) => {
        assertActive(channel)
        await recordAction(sql, channelAction('test', { channel, nowMs, by: ref.by }))
        const text = 'SELECT id, name FROM orgs WHERE id = $1'
        const org = await rowOf<{ id: string; name: string }>(sql, text, [channel.orgId])
        const tools = { nowMs: () => nowMs, uuid: () => orderedUuid(nowMs, randomUUID()) }
        const event = testEvent(org ?? { id: channel.orgId, name: '' }, channel, tools)
        await insertEvent(sql, event)
        return event.deliveries[0]?.webhookId ?? ''
      }),
    ...signingSecrets(change),
  }
}

type SecretMethods = 'rotateSecret' | 'showSecret'

function signingSecrets(change: ChangeChannel): Pick<NotificationStore, SecretMethods> {
  return {
    rotateSecret: (ref, make, { nowMs, oldUntilMs }) =>
      change(ref, async (sql, channel) => {
        const { id } = channel
        assertSigns(channel)
        await sql.rows("DELETE FROM sealed_secrets WHERE channel_id = $1 AND role = 'old_secret'", [id])
        const age = "UPDATE sealed_secrets SET role = 'old_secret' WHERE channel_id = $1 AND role = 'secret'"
        await sql.rows(age, [id])
        await putSecret(sql, id, 'secret', make(channel, await activeKey(sql)))
        await sql.rows('UPDATE channels SET old_secret_until_ms = $2 WHERE id = $1', [id, oldUntilMs])
        await recordAction(sql, channelAction('rotate', { channel, nowMs, by: ref.by }))
      }),
    showSecret: (ref, nowMs) =>
      change(ref, async (sql, channel) => {
        assertSigns(channel)
        const sealed = await rowOf<SealedValue>(
          sql,
          `SELECT ${SEALED_SECRET_COLUMNS} FROM sealed_secrets WHERE channel_id = $1 AND role = 'secret'`,
          [channel.id],
        )
        if (sealed === undefined) throw new Error(`the channel ${channel.id} has no signing secret`)
        await recordAction(sql, channelAction('show_secret', { channel, nowMs, by: ref.by }))
        return sealed
      }),
  }
}
