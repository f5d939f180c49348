import { type Incident, incidentSchema } from '../../../api/contract/incident.ts'
import type { IncidentPayload } from '../../domain/notifications/payload.ts'
import { type Receiver, startReceiver } from '../../notifications/testing/receiver.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

/** Number of channels of the organisation, each of which receives every update. */
const CHANNELS = 2
/** Number of active writers when the process is killed. */
const WRITERS = 4
/** Number of responses before the process is killed: the minimum, and the maximum random addition. */
const RESPONSES_MIN = 10
const RESPONSES_MORE = 60
/** Number of new keys for each writer, enough that none reaches the rate limit. */
const KEYS_PER_WRITER = 5
const REQUESTS_PER_KEY = 18
/** Maximum number of updates of one incident. */
const UPDATES_MAX = 5
/** Interval of polling for the arrival of all updates, and maximum wait for the next one (milliseconds). */
const LOOK_MS = 50
const ARRIVAL_MS_MAX = 60_000

/** Settings of a loop. `random` returns numbers from 0 to 1. */
export interface NotificationKillRun {
  readonly dataDir: string
  readonly kills: number
  readonly random: () => number
  /** Called after each kill with their number; optional. */
  readonly onKill?: (kills: number) => void
}

/** The result of a loop. */
export interface NotificationKillReport {
  /** Number of incident updates that the API confirmed. */
  readonly acknowledged: number
  /** Number of deliveries that arrived at all channels, including repeated ones. */
  readonly arrived: number
}

/**
 * Kills a server `kills` times during a stream of incidents. Throws unless each confirmed update arrives at every
 * channel at least once, always with the same id and body, and those of an incident arrive in order.
 */
export async function killNotifications(run: NotificationKillRun): Promise<NotificationKillReport> {
  const { dataDir, kills, onKill } = run
  const orgId = await makeOrg(dataDir)
  const receivers = await Promise.all(Array.from({ length: CHANNELS }, () => startReceiver()))
  const updates = new Set<string>()
  try {
    // Rate limits start over with each process.
    const keys = await makeKeys(dataDir, orgId, WRITERS * KEYS_PER_WRITER)
    for (let round = 0; round <= kills; round += 1) {
      const server = await startProcess(dataDir, [
        '--allow-webhook-ranges',
        '127.0.0.0/8',
        '--monitor',
        'off',
      ])
      if (round === 0) {
        for (const { url } of receivers) await createChannel(dataDir, orgId, url)
      }
      if (round < kills) await writeUntilKilled({ ...run, server, keys, updates })
      else {
        const arrivals = Promise.all(receivers.map((receiver) => arrivalOf(updates, receiver)))
        await arrivals.finally(() => server.stop())
      }
      onKill?.(round + 1)
    }
  } finally {
    for (const receiver of receivers) receiver.close()
  }
  receivers.forEach(assertOrder)
  return {
    acknowledged: updates.size,
    arrived: receivers.reduce((sum, { received }) => sum + received.length, 0),
  }
}

async function createChannel(dataDir: string, orgId: string, url: string): Promise<void> {
  const given = ['--data-dir', dataDir, '--org', orgId, '--kind', 'webhook', '--name', 'kills', '--url', url]
  const { code, stderr } = await runHere(['channel', 'create', ...given])
  if (code !== 0) throw new Error(stderr)
}

interface Writing extends NotificationKillRun {
  readonly server: Awaited<ReturnType<typeof startProcess>>
  readonly keys: readonly string[]
  /** Ids of the updates that the API confirmed. */
  readonly updates: Set<string>
}

async function writeUntilKilled({ server, keys, updates, random }: Writing): Promise<void> {
  const killAt = RESPONSES_MIN + Math.floor(random() * RESPONSES_MORE)
  let responses = 0
  let killed: Promise<void> | undefined
  const onIncident = (incident: Incident): void => {
    for (const { id } of incident.updates) updates.add(id)
    responses += 1
    if (responses === killAt) killed = server.kill()
  }
  await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => {
      const own = keys.slice(writer * KEYS_PER_WRITER, (writer + 1) * KEYS_PER_WRITER)
      return write(server.url, own, onIncident)
    }),
  )
  await killed
}

/** Opens incidents and updates them until the server is killed. */
async function write(
  url: string,
  keys: readonly string[],
  onIncident: (incident: Incident) => void,
): Promise<void> {
  const client = apiClient(url, '')
  let sent = 0
  const post = async (path: string, json: unknown): Promise<unknown> => {
    const key = keys[Math.floor(sent / REQUESTS_PER_KEY) % keys.length] ?? ''
    sent += 1
    const response = await client.post(path, json, { key })
    if (response.status >= 300) throw new Error(`${path} got ${response.status}: ${response.text}`)
    return response.json
  }
  try {
    const serviceId = String(Object(await post('/v1/services', serviceBody())).id)
    for (;;) {
      const opening = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [serviceId] }
      const incident = incidentSchema.parse(await post('/v1/incidents', opening))
      onIncident(incident)
      for (let update = 0; update < UPDATES_MAX; update += 1) {
        const status = update === UPDATES_MAX - 1 ? 'resolved' : 'monitoring'
        const path = `/v1/incidents/${incident.id}/updates`
        onIncident(incidentSchema.parse(await post(path, { body: `update ${update}`, status })))
      }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return
    throw error
  }
}

function payloadsOf(received: Receiver['received']) {
  // True because a channel without tests and certificates gets only incidents.
  return received.map(({ id, body }) => ({ id, body, payload: JSON.parse(body) as IncidentPayload }))
}

/**
 * Resolves when each of `updates` has arrived. Rejects when none arrives for a while; the total time depends on how
 * many updates the kills left waiting. Bodies are parsed only once, because this process also receives the deliveries.
 */
async function arrivalOf(updates: ReadonlySet<string>, receiver: Receiver): Promise<void> {
  const missing = new Set(updates)
  let read = 0
  let untilMs = performance.now() + ARRIVAL_MS_MAX
  while (missing.size > 0) {
    const before = missing.size
    const fresh = payloadsOf(receiver.received.slice(read))
    read += fresh.length
    for (const { payload } of fresh) missing.delete(payload.data.update.id)
    if (missing.size < before) untilMs = performance.now() + ARRIVAL_MS_MAX
    if (performance.now() > untilMs) throw new Error(`${missing.size} confirmed updates did not arrive`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Throws when an update has two ids, an id two bodies, or an incident's updates are out of order. */
function assertOrder(receiver: Receiver): void {
  const ids = new Map<string, string>()
  const bodies = new Map<string, string>()
  const sequences = new Map<string, number>()
  for (const { id, body, payload } of payloadsOf(receiver.received)) {
    const { incident, update } = payload.data
    if ((ids.get(update.id) ?? id) !== id) throw new Error(`update ${update.id} came with two ids`)
    if ((bodies.get(id) ?? body) !== body) throw new Error(`delivery ${id} came with two bodies`)
    const isNew = !bodies.has(id)
    ids.set(update.id, id)
    bodies.set(id, body)
    if (!isNew) continue
    const before = sequences.get(incident.id) ?? 0
    if (payload.sequence !== before + 1) {
      throw new Error(`${incident.display_id}: update ${payload.sequence} came after ${before}`)
    }
    sequences.set(incident.id, payload.sequence)
  }
}
