import type { Actor } from '../domain/accounts/actor.ts'
import type { ChannelKind, NewChannel } from '../domain/notifications/channel.ts'
import type { EventType } from '../domain/notifications/payload.ts'
import type { AfterAttempt, AttemptResult } from '../domain/notifications/retries.ts'
import type { Slot } from '../domain/notifications/slots.ts'
import type { SealedValue } from '../domain/seal.ts'

/** A notification channel, without its secrets. Instants are milliseconds since the epoch. */
export interface StoredChannel extends Omit<NewChannel, 'sealed'> {
  readonly orgId: string
  readonly state: 'active' | 'disabled'
  /** Reason and time of the disabling; `null` while it is active. */
  readonly disabledReason: string | null
  readonly disabledAtMs: number | null
  readonly lastSuccessAtMs: number | null
  readonly createdAtMs: number
}

/** New settings of a channel. Its kind and signing secrets stay. */
export interface ChannelChange extends Pick<StoredChannel, 'name' | 'events' | 'serviceIds'> {
  /** The new URL, sealed, and its host; `undefined` keeps the present URL. */
  readonly target: { readonly host: string; readonly sealed: SealedValue } | undefined
}

/** A channel by its id; callers that act for one organisation give `orgId`. */
export interface ChannelRef {
  readonly id: string
  readonly orgId?: string | undefined
  /** The actor; the command line when absent. */
  readonly by?: Actor | undefined
}

export type DeliveryState = 'waiting' | 'sent' | 'failed'

/** A delivery of an event to a channel. */
export interface StoredDelivery {
  /** Value of the header `webhook-id`: the same for every attempt. */
  readonly webhookId: string
  readonly type: EventType
  readonly incidentId: string | null
  /** Its display id, such as `INC-42`. */
  readonly incident: string | null
  readonly state: DeliveryState
  /** All attempts, including those before a manual resend. */
  readonly attempts: number
  /** When the event happened (milliseconds since the epoch). */
  readonly atMs: number
  /** When the next attempt is due; `null` unless it waits. */
  readonly dueMs: number | null
  /** Why it failed before its last attempt; `null` otherwise. */
  readonly failedReason: string | null
  /** The last attempt; `null` before the first. */
  readonly last: (Omit<AttemptResult, 'retryAfter'> & { readonly atMs: number }) | null
}

/** A delivery with its payload and all attempts. */
export interface WholeDelivery {
  readonly webhookId: string
  readonly body: string
  readonly attempts: readonly NonNullable<StoredDelivery['last']>[]
}

/** A due delivery, with the data needed to send it. */
export interface DueDelivery extends Slot {
  readonly eventSeq: number
  readonly webhookId: string
  readonly kind: ChannelKind
  readonly type: EventType
  /** The payload as JSON: the bytes that are signed. */
  readonly body: string
  /** When the event happened (milliseconds since the epoch). */
  readonly atMs: number
  readonly attempts: number
  /** Number of this attempt in its schedule, from 1. */
  readonly attempt: number
  readonly target: SealedValue
  /** Secrets that sign it, the newest first; none for a chat. */
  readonly secrets: readonly SealedValue[]
}

/** Metrics of notifications. */
export interface NotificationStats {
  readonly waiting: number
  readonly disabledChannels: number
}

/** Notification channels and their deliveries. Methods reject with `not_found` for an unknown channel. */
export interface NotificationStore {
  /** Stores the channel that `make` makes with the active master key. Rejects for an unknown organisation or service. */
  createChannel(
    orgId: string,
    make: (masterKeyId: string) => NewChannel,
    nowMs: number,
    by?: Actor,
  ): Promise<void>
  /** A delivery with its payload as JSON and all attempts, the newest first. */
  getDelivery(channel: ChannelRef, webhookId: string): Promise<WholeDelivery>
  /** In creation order. */
  listChannels(orgId: string): Promise<readonly StoredChannel[]>
  /** Replaces the secret; the previous one also signs until `oldUntilMs`. Rejects with `invalid` for a chat. */
  rotateSecret(
    channel: ChannelRef,
    make: (channel: Pick<StoredChannel, 'id' | 'orgId'>, masterKeyId: string) => SealedValue,
    times: { readonly nowMs: number; readonly oldUntilMs: number },
  ): Promise<void>
  /** Changes a channel as `decide` says. Rejects with its error, and for services of other organisations. */
  changeChannel(
    channel: ChannelRef,
    decide: (channel: StoredChannel, masterKeyId: string) => ChannelChange,
    nowMs: number,
  ): Promise<void>
  /** The newest signing secret; the audit log records that it was shown. Rejects with `invalid` for a chat. */
  showSecret(channel: ChannelRef, nowMs: number): Promise<SealedValue>
  /** A disabled channel gets no events, and its waiting deliveries fail. */
  setChannelState(channel: ChannelRef, state: StoredChannel['state'], nowMs: number): Promise<void>
  deleteChannel(channel: ChannelRef, nowMs: number): Promise<void>
  /** Adds a delivery of `channel.test`; its webhook id. Rejects with `invalid` when the channel is disabled. */
  testChannel(channel: ChannelRef, nowMs: number): Promise<string>
  /** Newest first, at most `countMax`. */
  listDeliveries(
    channel: ChannelRef,
    filter: { readonly state?: DeliveryState | undefined; readonly countMax: number },
  ): Promise<readonly StoredDelivery[]>
  /**
   * Sends ended deliveries again with the same ids: the one with `webhookId`, or all failed ones of events since
   * `sinceMs`. Resolves to their number.
   */
  resendDeliveries(
    channel: ChannelRef,
    which: { readonly webhookId: string } | { readonly sinceMs: number },
    nowMs: number,
  ): Promise<number>
  /** The deliveries due at `nowMs` that `choose` picks: it gets one for each channel, the longest due first. */
  dueDeliveries(
    nowMs: number,
    choose: <Due extends Slot>(due: readonly Due[]) => readonly Due[],
  ): Promise<readonly DueDelivery[]>
  /**
   * Makes waiting deliveries due at `nowMs` whose last attempt, or event, is later than that by more than
   * SET_BACK_MS_MIN: the clock was set back, and their time may be days away.
   */
  hastenDeliveries(nowMs: number): Promise<void>
  /** Records an attempt of `delivery` and its consequences. Resolves to the reason when this disabled the channel. */
  recordAttempt(
    delivery: DueDelivery,
    result: AttemptResult,
    after: AfterAttempt,
    nowMs: number,
  ): Promise<string | undefined>
  notificationStats(): Promise<NotificationStats>
}

/** An entry of the audit log. It never holds a secret. */
export interface AuditEntry {
  readonly seq: number
  readonly at: string
  readonly actorKind: 'person' | 'key' | 'cli' | 'system'
  /** Id of the key or person; `null` for the others. */
  readonly actor: string | null
  /** Such as `channel.create`. */
  readonly action: string
  readonly targetKind: string
  readonly targetId: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** An entry with the name of its actor. */
export interface NamedAuditEntry extends AuditEntry {
  /** E-mail address of the person, or last four characters of the key; `null` for other actors, and for deleted ones. */
  readonly actorName: string | null
}

/** Filter of the audit log; absent members match everything, all given ones must match. */
export interface AuditFilter {
  readonly actorKind?: AuditEntry['actorKind'] | undefined
  /** An action such as `key.create`, or the kind of its target, such as `key`. */
  readonly action?: string | undefined
  readonly targetId?: string | undefined
  /** First and last UTC day, YYYY-MM-DD. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** The audit log. */
export interface AuditStore {
  /** The newest `countMax` entries of the organisation, newest first. */
  listAudit(orgId: string, countMax: number): Promise<readonly AuditEntry[]>
  /** Entries that match `filter`, newest first, at most `countMax`; only those before `beforeSeq`, if given. */
  findAudit(
    orgId: string,
    filter: AuditFilter,
    page: { readonly beforeSeq: number | undefined; readonly countMax: number },
  ): Promise<readonly NamedAuditEntry[]>
}
