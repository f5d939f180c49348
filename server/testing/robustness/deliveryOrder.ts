import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATOR } from '../../domain/accounts/actor.ts'
import { openIncident, updateIncident } from '../../domain/incidentChanges.ts'
import { sealSecret } from '../../domain/notifications/channel.ts'
import { CHANNEL_EVENTS } from '../../domain/notifications/payload.ts'
import {
  type AttemptResult,
  afterAttempt,
  ORDERED_ATTEMPTS,
  ORDERED_MS,
} from '../../domain/notifications/retries.ts'
import { slotsToStart } from '../../domain/notifications/slots.ts'
import { masterKeyOf } from '../../domain/seal.ts'
import { createService } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import type { DueDelivery } from '../../store/notificationStore.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { prepareFirstStart } from '../firstStart.ts'
import { serviceBody } from '../serviceBodies.ts'

/** Number of channels of an organisation, each with its own history. */
const CHANNELS = 50
const INCIDENTS = 3
const UPDATES_MAX = 4
/**
 * Maximum time between two changes of an incident (milliseconds), and time for which a receiver keeps its failure rate.
 */
const GAP_MS_MAX = 6 * 60_000
const TROUBLED_MS = 45 * 60_000
/** Interval of polling for due deliveries: during the changes, and later (milliseconds). */
const LOOK_MS = 20_000
const LATER_MS = 10 * 60_000
/** Number of polls after which every delivery has ended, because the longest pause is a day. */
const LOOKS_MAX = 1_000

/** Settings of a run. `random` returns numbers from 0 to 1. */
export interface OrderRun {
  /** Number of histories, rounded up to whole organisations. */
  readonly histories: number
  readonly random: () => number
}

/** The result of a run. */
export interface OrderReport {
  readonly histories: number
  readonly attempts: number
  /** Number of attempts that overtook an earlier event, which is allowed after minutes of failure. */
  readonly overtaking: number
}

/** The fate of an incident's event at a channel. */
interface Sent {
  attempts: number
  isSent: boolean
  webhookId: string
}

/**
 * Sends the events of random incidents to channels whose receivers fail at random, on a simulated clock. Throws when an
 * event overtakes an earlier one of its incident too soon, is sent twice or with a different id, or is never sent.
 */
export async function assertDeliveryOrder({ histories, random }: OrderRun): Promise<OrderReport> {
  const folder = await mkdtemp(join(tmpdir(), 'pharos-order-'))
  prepareFirstStart(folder)
  let nowMs = Date.parse('2026-11-20T12:00:00Z')
  const store = await openStore(folder, () => nowMs)
  const masterKey = masterKeyOf(Buffer.alloc(32))
  await store.activateMasterKey(masterKey.id, 0)
  const environment = { ...systemEnvironment, nowMs: () => nowMs }
  const report = { histories: 0, attempts: 0, overtaking: 0 }

  async function organisation(): Promise<void> {
    const orgId = environment.uuid()
    await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs })
    const deps = { ...environment, nowMs, isBlocked: () => false, seal: noSecret }
    const { text } = await store.createService(orgId, undefined, ({ quota }) =>
      createService(serviceBody(), { ...deps, quota }),
    )
    const serviceId = String(Object(JSON.parse(text)).id)
    /** Share of attempts that fail, by channel. */
    const moods = new Map<string, number>()
    for (let index = 0; index < CHANNELS; index += 1) {
      const id = environment.uuid()
      moods.set(id, [0, 0.3, 0.8, 1][Math.floor(random() * 4)] ?? 0)
      const place = { orgId, channelId: id, role: 'target' } as const
      const target = sealSecret('https://receiver.example', place, masterKey, environment)
      const facts = { id, kind: 'webhook', name: `channel ${index}`, host: 'receiver.example' } as const
      const sealed = { target, secret: null }
      await store.createChannel(
        orgId,
        () => ({ ...facts, events: CHANNEL_EVENTS, serviceIds: null, sealed }),
        nowMs,
      )
    }
    /** Times of an incident's events, by incident and sequence. */
    const events = new Map<string, number[]>()
    const known = new Map<string, Sent>()
    const sentOf = (channelId: string, incidentId: string, sequence: number): Sent => {
      const name = `${channelId} ${incidentId} ${sequence}`
      const sent = known.get(name) ?? { attempts: 0, isSent: false, webhookId: '' }
      known.set(name, sent)
      return sent
    }

    const attempt = async (delivery: DueDelivery, isTroubled: boolean): Promise<void> => {
      const { channelId, webhookId } = delivery
      const { sequence, data } = JSON.parse(delivery.body)
      const incidentId: string = data.incident.id
      const times = events.get(incidentId) ?? []
      for (let earlier = 1; earlier < sequence; earlier += 1) {
        const { isSent, attempts } = sentOf(channelId, incidentId, earlier)
        if (isSent) continue
        report.overtaking += 1
        if (attempts < ORDERED_ATTEMPTS && nowMs - (times[earlier - 1] ?? 0) < ORDERED_MS) {
          throw new Error(
            `event ${sequence} was sent before event ${earlier}, after ${attempts} attempts of that`,
          )
        }
      }
      const sent = sentOf(channelId, incidentId, sequence)
      if (sent.isSent) throw new Error(`event ${sequence} was sent twice`)
      if (sent.attempts > 0 && sent.webhookId !== webhookId) throw new Error('an event was sent with two ids')
      sent.webhookId = webhookId
      sent.attempts += 1
      report.attempts += 1
      const isFailing = isTroubled && random() < (moods.get(channelId) ?? 0)
      const result: AttemptResult = isFailing ? failure(random) : { status: 200, error: null, durationMs: 5 }
      const after = afterAttempt(result, delivery, { nowMs, random: random() })
      sent.isSent = after.kind === 'sent'
      await store.recordAttempt(delivery, result, after, nowMs)
    }

    const sendDue = async (isTroubled: boolean): Promise<void> => {
      const due = await store.dueDeliveries(nowMs, (all) => slotsToStart(all, [], new Set()))
      if (due.length === 0) return
      if (new Set(due.map(({ channelId }) => channelId)).size < due.length) {
        throw new Error('two deliveries of a channel were due at once')
      }
      await Promise.all(due.map((delivery) => attempt(delivery, isTroubled)))
      await sendDue(isTroubled)
    }

    const untilMs = nowMs + TROUBLED_MS
    const plans = await Promise.all(
      Array.from({ length: INCIDENTS }, async () => {
        const request = {
          title: 'x',
          message: 'x',
          severity: 'major_outage',
          service_ids: [serviceId],
        } as const
        const facts = { by: OPERATOR, wantedServiceIds: [serviceId], fingerprint: undefined }
        const body = { ...request, service_ids: [serviceId] }
        const { id } = await store.createIncident(orgId, facts, (known) =>
          openIncident(body, known, environment),
        )
        events.set(id, [nowMs])
        return { id, nextMs: nowMs + random() * GAP_MS_MAX }
      }),
    )
    while (nowMs < untilMs) {
      for (const plan of plans) {
        const times = events.get(plan.id) ?? []
        if (nowMs < plan.nextMs || times.length > UPDATES_MAX) continue
        const request = { body: 'x', status: 'monitoring' } as const
        await store.changeIncident(orgId, plan.id, OPERATOR, (incident, quota) =>
          updateIncident(incident, request, { environment, quota }),
        )
        times.push(nowMs)
        plan.nextMs = nowMs + random() * GAP_MS_MAX
      }
      await sendDue(true)
      nowMs += LOOK_MS
    }
    const expected = CHANNELS * [...events.values()].reduce((sum, times) => sum + times.length, 0)
    const sentCount = (): number => [...known.values()].filter(({ isSent }) => isSent).length
    for (let look = 0; sentCount() < expected; look += 1) {
      if (look > LOOKS_MAX) throw new Error(`${expected - sentCount()} events were not sent`)
      await sendDue(false)
      nowMs += LATER_MS
    }
    report.histories += CHANNELS
  }

  try {
    while (report.histories < histories) await organisation()
    return report
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

/** The response of a failing receiver, or none. */
function failure(random: () => number): AttemptResult {
  if (random() < 0.3) return { status: null, error: 'connect_refused', durationMs: 5 }
  if (random() < 0.2)
    return { status: 503, error: null, durationMs: 5, retryAfter: String(Math.floor(random() * 900)) }
  return { status: 500, error: null, durationMs: 5 }
}

function noSecret(): never {
  throw new Error('the body has no secret')
}
