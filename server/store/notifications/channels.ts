import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../api/contract/apiError.ts'
import { CHANNELS_MAX } from '../../domain/notifications/channel.ts'
import { orderedUuid } from '../../domain/orderedUuid.ts'
import type { NotificationStore, StoredChannel } from '../notificationStore.ts'
import { assertOrg, assertOwnServices, namedOrg } from '../scripts/orgScripts.ts'
import { count, run, type Scripts } from '../scripts/script.ts'
import { testEvent } from '../shared/events.ts'
import { orgNotFound } from '../shared/orgNotFound.ts'
import { CLI, recordChannelAction } from './channelAction.ts'
import { type ChangeChannel, channelsOfOrg } from './channelRows.ts'
import { activeKey, putSecret } from './channelSecrets.ts'
import { disableChannel } from './disableChannel.ts'
import { insertEvent } from './insertEvent.ts'

/** Notification channels. Their changes lock the organisation, as events for them do. */
export function channels({ read, withOrgLocked, assertGrowth }: Scripts, change: ChangeChannel) {
  return {
    createChannel: (orgId, make, nowMs, by) =>
      withOrgLocked(orgId, orgNotFound(orgId), function* () {
        if ((yield* count('channels WHERE org_id = $1', [orgId])) >= CHANNELS_MAX)
          throw new ApiError('forbidden', `an organisation has at most ${CHANNELS_MAX} channels`)
        const { id, kind, name, host, events, serviceIds, sealed } = make(yield* activeKey())
        yield* assertOwnServices(orgId, serviceIds ?? [])
        assertGrowth()
        yield* run(
          `INSERT INTO channels (id, org_id, kind, name, host, events, service_ids, state, enabled_at_ms, created_at_ms)
           VALUES ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $8)`,
          [id, orgId, kind, name, host, events, serviceIds, nowMs],
        )
        yield* putSecret(id, 'target', sealed.target)
        if (sealed.secret !== null) yield* putSecret(id, 'secret', sealed.secret)
        const detail = { kind, name, host, events, service_ids: serviceIds }
        yield* recordChannelAction('create', { channel: { id, orgId }, nowMs, by, detail })
      }),
    listChannels: (orgId) =>
      read(function* () {
        yield* assertOrg(orgId)
        return yield* channelsOfOrg(orgId)
      }),
    changeChannel: (ref, decide, nowMs) =>
      change(ref, function* (before) {
        const { id, orgId } = before
        const { name, events, serviceIds, target } = decide(before, yield* activeKey())
        // Services that were subscribed before may have been deleted meanwhile.
        const added = serviceIds?.filter((serviceId) => before.serviceIds?.includes(serviceId) !== true)
        yield* assertOwnServices(orgId, added ?? [])
        assertGrowth()
        const host = target?.host ?? before.host
        yield* run('UPDATE channels SET name = $2, host = $3, events = $4, service_ids = $5 WHERE id = $1', [
          id,
          name,
          host,
          events,
          serviceIds,
        ])
        if (target !== undefined) yield* putSecret(id, 'target', target.sealed)
        const detail = { name, host, events, service_ids: serviceIds, has_new_url: target !== undefined }
        yield* recordChannelAction('update', { channel: before, nowMs, by: ref.by, detail })
      }),
    setChannelState: (ref, state, nowMs) =>
      change(ref, function* (channel) {
        if (channel.state === state) return
        if (state === 'disabled') {
          return yield* disableChannel(channel, { reason: 'disabled by hand', by: ref.by ?? CLI, nowMs })
        }
        yield* run(
          `UPDATE channels SET state = 'active', disabled_reason = NULL, disabled_at_ms = NULL, enabled_at_ms = $2
           WHERE id = $1`,
          [channel.id, nowMs],
        )
        yield* recordChannelAction('enable', { channel, nowMs, by: ref.by })
      }),
    deleteChannel: (ref, nowMs) =>
      change(ref, function* (channel) {
        yield* run('DELETE FROM channels WHERE id = $1', [channel.id])
        const detail = { name: channel.name }
        yield* recordChannelAction('delete', { channel, nowMs, by: ref.by, detail })
      }),
    testChannel: (ref, nowMs) =>
      change(ref, function* (channel) {
        assertActive(channel)
        yield* recordChannelAction('test', { channel, nowMs, by: ref.by })
        const tools = { nowMs: () => nowMs, uuid: () => orderedUuid(nowMs, randomUUID()) }
        const event = testEvent(yield* namedOrg(channel.orgId), channel, tools)
        yield* insertEvent(event)
        return event.deliveries[0]?.webhookId ?? ''
      }),
  } satisfies Partial<NotificationStore>
}

/** Throws `invalid` when the channel is disabled. */
export function assertActive({ state, disabledReason }: StoredChannel): void {
  if (state === 'active') return
  throw new ApiError('invalid', `the channel is disabled (${disabledReason}): enable it first`)
}
