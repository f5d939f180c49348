import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import type { ChannelRef, DeliveryState, StoredDelivery } from '../store/notificationStore.ts'
import type { Store } from '../store/store.ts'
import { addChannelOptions, type ChannelOptions, channelRefOf } from './options/channelOptions.ts'
import { readInstant } from './options/readInstant.ts'
import { WEBHOOK_RANGES_ADVICE } from './options/webhookRanges.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Maximum wait of a test for the server, and interval between polls (milliseconds). */
const TEST_MS_MAX = 20_000
const TEST_LOOK_MS = 100
/** Default number of listed deliveries. */
const SHOWN_COUNT = 50
const SHOWN_COUNT_MAX = 1_000

/** Adds `channel test`, `channel deliveries` and `channel resend` to the group `channel`. */
export function addDeliveryCommands(channel: Command, write: Write): void {
  addTest(channel, write)
  addChannelOptions(
    channel.command('deliveries').description('list the deliveries of a channel, newest first'),
  )
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(['waiting', 'sent', 'failed']),
    )
    .option('--limit <count>', 'maximum number of deliveries', wholeNumber(1, SHOWN_COUNT_MAX), SHOWN_COUNT)
    .action(async (options: ChannelOptions & { state?: DeliveryState; limit: number }) => {
      const { json, state, limit: countMax } = options
      const deliveries = await inDatabase(options, (store) =>
        store.listDeliveries(channelRefOf(options), { state, countMax }),
      )
      const rows = deliveries.map((one) => [
        ...[one.webhookId, timestamp(one.atMs), one.type, one.state, String(one.attempts), resultOf(one)],
        one.dueMs === null ? '-' : timestamp(one.dueMs),
      ])
      const header = ['ID', 'AT', 'EVENT', 'STATE', 'ATTEMPTS', 'LAST RESPONSE', 'NEXT ATTEMPT']
      present(write, json, deliveries.map(shown), table(header, rows))
    })
  addChannelOptions(channel.command('resend').description('send deliveries again, with the same ids'))
    .addOption(new Option('--delivery <id>', 'one delivery, from "channel deliveries"').conflicts('since'))
    .option('--since <instant>', 'all failed deliveries of events since then', readInstant)
    .action(async (options: ChannelOptions & { delivery?: string; since?: number }) => {
      const { json, delivery, since } = options
      const which = delivery === undefined ? { sinceMs: since ?? NaN } : { webhookId: delivery }
      if (delivery === undefined && since === undefined) {
        throw new Error('name a delivery by --delivery, or all failed ones by --since')
      }
      const count = await inDatabase(options, (store) =>
        store.resendDeliveries(channelRefOf(options), which, systemEnvironment.nowMs()),
      )
      const noun = count === 1 ? 'delivery' : 'deliveries'
      present(write, json, { deliveries: count }, `${count} ${noun} will be sent again`)
    })
}

function addTest(channel: Command, write: Write): void {
  addChannelOptions(
    channel.command('test').description('send a test event, and show the response of the receiver'),
  ).action(async (options: ChannelOptions) => {
    const channelRef = channelRefOf(options)
    const delivery = await inDatabase(options, async (store) => {
      const webhookId = await store.testChannel(channelRef, systemEnvironment.nowMs())
      return endOf(store, channelRef, webhookId)
    })
    if (delivery === undefined || delivery.state === 'waiting') {
      throw new Error(
        `nothing was sent within ${TEST_MS_MAX / 1_000} s: start the server, which sends notifications`,
      )
    }
    if (delivery.state === 'failed') throw new Error(`the test failed: ${resultOf(delivery)}`)
    present(write, options.json, shown(delivery), `delivered: ${resultOf(delivery)}`)
  })
}

/** The delivery `webhookId` after it has ended, or after the longest wait. */
async function endOf(
  store: Store,
  channel: ChannelRef,
  webhookId: string,
): Promise<StoredDelivery | undefined> {
  const untilMs = performance.now() + TEST_MS_MAX
  for (;;) {
    const newest = await store.listDeliveries(channel, { countMax: SHOWN_COUNT_MAX })
    const delivery = newest.find((one) => one.webhookId === webhookId)
    if (delivery?.state !== 'waiting' || performance.now() > untilMs) return delivery
    await sleep(TEST_LOOK_MS)
  }
}

function resultOf({ last, failedReason }: StoredDelivery): string {
  if (last === null) return failedReason ?? '-'
  const { status, error, durationMs } = last
  const result = `${status === null ? error : `status ${status}`} after ${durationMs} ms${adviceOf(error)}`
  return failedReason === null ? result : `${result}; ${failedReason}`
}

function adviceOf(error: string | null): string {
  return error === 'address_forbidden' ? ` (${WEBHOOK_RANGES_ADVICE})` : ''
}

function shown(delivery: StoredDelivery) {
  const { webhookId, type, incidentId, state, attempts, atMs, dueMs, failedReason, last } = delivery
  return {
    ...{ id: webhookId, type, incident_id: incidentId, state, attempts, at: timestamp(atMs) },
    failed_reason: failedReason,
    next_attempt_at: dueMs === null ? null : timestamp(dueMs),
    last:
      last === null
        ? null
        : { at: timestamp(last.atMs), status: last.status, error: last.error, ms: last.durationMs },
  }
}
