import { ApiError } from '../../../api/contract/apiError.ts'
import type { Actor } from '../../domain/accounts/actor.ts'
import { CHANNELS_MAX } from '../../domain/notifications/channel.ts'
import { type AfterAttempt, isGivenUp } from '../../domain/notifications/retries.ts'
import type { StoredChannel, StoredDelivery } from '../notificationStore.ts'
import type { AuditedAction } from './auditedAction.ts'

/** How long ended deliveries are kept (milliseconds). Gap G9. */
const DAY_MS = 24 * 60 * 60 * 1_000
export const SENT_KEPT_MS = 7 * DAY_MS
export const FAILED_KEPT_MS = 30 * DAY_MS

/** Reason of a channel that a person disabled. */
export const DISABLED_BY_HAND = 'disabled by hand'

/** The default actor. */
export const CLI = { kind: 'cli' } as const

/** The error for an unknown channel. Pure. */
export function channelNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no channel ${id}`)
}

/** The error for an unknown delivery of a channel. Pure. */
export function deliveryNotFound(webhookId: string): ApiError {
  return new ApiError('not_found', `there is no delivery ${webhookId}`)
}

/** Throws `forbidden` when an organisation cannot have more than this number of channels. */
export function assertMayAddChannel(channels: number): void {
  if (channels < CHANNELS_MAX) return
  throw new ApiError('forbidden', `an organisation has at most ${CHANNELS_MAX} channels`)
}

/** Throws `invalid` when the channel is disabled. */
export function assertActive({
  state,
  disabledReason,
}: Pick<StoredChannel, 'state' | 'disabledReason'>): void {
  if (state === 'active') return
  throw new ApiError('invalid', `the channel is disabled (${disabledReason}): enable it first`)
}

/** Throws `invalid` for a chat: its URL is its secret. */
export function assertSigns({ kind }: Pick<StoredChannel, 'kind'>): void {
  if (kind !== 'slack') return
  throw new ApiError('invalid', 'a channel of kind slack has no signing secret: its URL is the secret')
}

/** Services that a change adds to a channel. Only these must exist: others may have been deleted meanwhile. Pure. */
export function addedServices(
  before: Pick<StoredChannel, 'serviceIds'>,
  serviceIds: readonly string[] | null,
): readonly string[] {
  return serviceIds?.filter((id) => before.serviceIds?.includes(id) !== true) ?? []
}

/** Failure reason of waiting deliveries when their channel is disabled. Pure. */
export function failedReasonOf(reason: string): string {
  return `channel disabled: ${reason}`
}

/** An action on a channel; by the command line when `by` is absent. */
interface ChannelAction {
  readonly channel: Pick<StoredChannel, 'id' | 'orgId'>
  readonly by?: Actor | undefined
  readonly nowMs: number
  readonly detail?: AuditedAction['detail']
}

/** The audit entry of an action on a channel, such as `create`. Pure. */
export function channelAction(
  verb: string,
  { channel, by = CLI, nowMs, detail }: ChannelAction,
): AuditedAction {
  const audited = { orgId: channel.orgId, targetId: channel.id, by, nowMs, action: `channel.${verb}` }
  return detail === undefined ? audited : { ...audited, detail }
}

/** A channel whose delivery failed for good. */
export interface ChannelHealth {
  /** Last success, or when it was enabled (milliseconds since the epoch). */
  readonly sinceMs: number
  readonly failedDeliveries: number
}

/** Why a channel is disabled after `after`; `undefined` when it is not. Pure. */
export function giveUpReason(
  after: AfterAttempt['kind'],
  { sinceMs, failedDeliveries }: ChannelHealth,
  nowMs: number,
): string | undefined {
  if (after === 'gone') return 'the receiver responded with 410'
  return isGivenUp({ nowMs, sinceMs, failedDeliveries }) ? 'no delivery succeeded for 5 days' : undefined
}

/** A row of a delivery with its last attempt. */
export type DeliveryRow = Omit<StoredDelivery, 'last'> & {
  readonly lastAtMs: number | null
  readonly status: number | null
  readonly error: string | null
  readonly ms: number | null
}

/** The delivery of a row. Pure. */
export function deliveryOfRow({ lastAtMs: atMs, status, error, ms, ...row }: DeliveryRow): StoredDelivery {
  return { ...row, last: atMs === null ? null : { atMs, status, error, durationMs: ms ?? 0 } }
}
