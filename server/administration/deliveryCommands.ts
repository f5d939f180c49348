import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import type { ChannelRef, DeliveryState, StoredDelivery } from '../store/notificationStore.ts'
import type { Store } from '../store/store.ts'
import { type ChannelOptions, channelCommand, channelRefOf } from './options/channelOptions.ts'
import { inStore, printFromStore } from './options/databaseCommand.ts'
import { readInstant } from './options/readInstant.ts'
import { WEBHOOK_RANGES_ADVICE } from './options/webhookRanges.ts'
import { table } from './text/output.ts'

/** Maximum wait of a test for the server, and interval between polls (milliseconds). */
const TEST_MS_MAX = 20_000
const TEST_LOOK_MS = 100
/** Default number of listed deliveries. */
const SHOWN_COUNT = 50
const SHOWN_COUNT_MAX = 1_000

interface ListOptions extends ChannelOptions {
  readonly state?: DeliveryState
  readonly limit: number
}
interface ResendOptions extends ChannelOptions {
  readonly delivery?: string
  readonly since?: number
}

/** Adds `channel test`, `channel deliveries` and `channel resend` to the group `channel`. */
export function addDeliveryCommands(channel: Command): void {
  channelCommand(channel, 'test', 'send a test event, and show the response of the receiver').action(
    inStore(async (store, options: ChannelOptions) => {
      const channelRef = channelRefOf(options)
      const webhookId = await store.testChannel(channelRef, systemEnvironment.nowMs())
      const delivery = await endOf(store, channelRef, webhookId)
      if (delivery === undefined || delivery.state === 'waiting') {
        throw new Error(
          `nothing was sent within ${TEST_MS_MAX / 1_000} s: start the server, which sends notifications`,
        )
      }
      if (delivery.state === 'failed') throw new Error(`the test failed: ${resultOf(delivery)}`)
      return { value: shown(delivery), text: `delivered: ${resultOf(delivery)}` }
    }),
  )
  channelCommand(channel, 'deliveries', 'list the deliveries of a channel, newest first')
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(['waiting', 'sent', 'failed']),
    )
    .option('--limit <count>', 'maximum number of deliveries', wholeNumber(1, SHOWN_COUNT_MAX), SHOWN_COUNT)
    .action(
      inStore(async (store, options: ListOptions) => {
        const { state, limit: countMax } = options
        const deliveries = await store.listDeliveries(channelRefOf(options), { state, countMax })
        const text = table(deliveries, {
          ID: 'webhookId',
          AT: ({ atMs }) => timestamp(atMs),
          EVENT: 'type',
          STATE: 'state',
          ATTEMPTS: 'attempts',
          'LAST RESPONSE': resultOf,
          'NEXT ATTEMPT': ({ dueMs }) => (dueMs === null ? null : timestamp(dueMs)),
        })
        return { value: deliveries.map(shown), text }
      }),
    )
  channelCommand(channel, 'resend', 'send deliveries again, with the same ids')
    .addOption(new Option('--delivery <id>', 'one delivery, from "channel deliveries"').conflicts('since'))
    .option('--since <instant>', 'all failed deliveries of events since then', readInstant)
    .action(async (options: ResendOptions, command: Command) => {
      const { delivery, since: sinceMs } = options
      if (delivery === undefined && sinceMs === undefined) {
        throw new Error('name a delivery by --delivery, or all failed ones by --since')
      }
      const which = delivery === undefined ? { sinceMs: sinceMs ?? NaN } : { webhookId: delivery }
      await printFromStore(options, command, async (store) => {
        const count = await store.resendDeliveries(channelRefOf(options), which, systemEnvironment.nowMs())
        const noun = count === 1 ? 'delivery' : 'deliveries'
        return { value: { deliveries: count }, text: `${count} ${noun} will be sent again` }
      })
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
