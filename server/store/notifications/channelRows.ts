import { ApiError } from '../../../api/contract/apiError.ts'
import type { ChannelRef, StoredChannel } from '../notificationStore.ts'
import { listOf, row, rows, run, type Script, type Scripts, type StoredList } from '../scripts/script.ts'
import type { SubscribedChannel } from '../shared/events.ts'
import { uuidOrNull } from '../shared/uuid.ts'

type ChannelRow = Omit<StoredChannel, 'events' | 'serviceIds'> & {
  readonly events: StoredList<StoredChannel['events'][number]>
  readonly serviceIds: StoredList<string> | null
}

const SELECT = `SELECT id, org_id AS "orgId", kind, name, host, events, service_ids AS "serviceIds",
  state, disabled_reason AS "disabledReason", disabled_at_ms AS "disabledAtMs",
  last_success_at_ms AS "lastSuccessAtMs", created_at_ms AS "createdAtMs" FROM channels`

/** The channels of an organisation in creation order. */
export function* channelsOfOrg(orgId: string): Script<readonly StoredChannel[]> {
  const found = yield* rows<ChannelRow>(`${SELECT} WHERE org_id = $1 ORDER BY created_at_ms, id`, [orgId])
  return found.map(withLists)
}

/** The active channels of an organisation, with the events and services they subscribe to. */
export function* subscribedChannels(orgId: string): Script<readonly SubscribedChannel[]> {
  const found = yield* rows<Pick<ChannelRow, 'id' | 'events' | 'serviceIds'>>(
    `SELECT id, events, service_ids AS "serviceIds" FROM channels WHERE org_id = $1 AND state = 'active'`,
    [orgId],
  )
  return found.map(withLists)
}

/** The channel of a reference. Throws `not_found` when there is none. */
export function* findChannel({ id, orgId }: ChannelRef): Script<StoredChannel> {
  const found = yield* row<ChannelRow>(`${SELECT} WHERE id = $1`, [uuidOrNull(id.toLowerCase())])
  if (found === undefined || (orgId !== undefined && found.orgId !== orgId)) throw channelNotFound(id)
  return withLists(found)
}

function withLists<Row extends Pick<ChannelRow, 'events' | 'serviceIds'>>({
  events,
  serviceIds,
  ...channel
}: Row) {
  return { ...channel, events: listOf(events), serviceIds: serviceIds === null ? null : listOf(serviceIds) }
}

/** Runs `work` in a transaction that locks a channel and its organisation. Rejects with `not_found` without a channel. */
export type ChangeChannel = <Result>(
  ref: ChannelRef,
  work: (channel: StoredChannel) => Script<Result>,
) => Promise<Result>

/** Transactions that lock a channel. Deliveries are always locked after their channel. */
export function channelChanger({ read, withOrgLocked }: Scripts): ChangeChannel {
  return async (ref, work) => {
    const { orgId, id } = await read(() => findChannel(ref))
    return await withOrgLocked(orgId, channelNotFound(ref.id), function* () {
      yield* run('SELECT id FROM channels WHERE id = $1 FOR NO KEY UPDATE', [id])
      return yield* work(yield* findChannel(ref))
    })
  }
}

function channelNotFound(id: string): ApiError {
  return new ApiError('not_found', `there is no channel ${id}: "pharos-server channel list" shows them`)
}
