import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { type Ledger, type Outcome, record } from './ledger.ts'

/** Number of requests with one key before the writer uses the next one. */
const REQUESTS_PER_KEY = 10
/** Pause after a response that excludes an effect (milliseconds). */
const PAUSE_MS = 50
/** Maximum number of times that a writer sends a request. */
const TRIES_MAX = 300
const REGIONS = ['eu-west-1', 'us-east-1', 'sa-east-1']

/** Clients that write through several servers. */
export interface WriterParts {
  /** Current addresses of the servers, which may change. */
  readonly servers: () => readonly string[]
  /** Keys of one organisation, of which each writer uses some. */
  readonly keys: readonly string[]
  readonly writers: number
  /** Pause of each writer after a change (milliseconds). Default: none. */
  readonly pauseMs?: number
  readonly random: () => number
  readonly ledger: Ledger
}

/** Statistics of a run of writers. */
export interface WriterStats {
  made: number
  refused: number
  unknown: number
  /** Maximum time to a response (milliseconds). */
  longestMs: number
  /** Maximum time without a successful change, over all writers (milliseconds). */
  pauseMs: number
}

/** Running writers. */
export interface Writers {
  readonly stats: Readonly<WriterStats>
  /** Resets the measured pauses. */
  readonly restartPauses: () => void
  /** Lets each writer finish its mutation. Rejects when the contract does not allow one of the responses. */
  readonly stop: () => Promise<void>
}

/** Starts clients that create, rename and delete services and open incidents until they are stopped. */
export function startWriters(parts: WriterParts): Writers {
  const stats: WriterStats = { made: 0, refused: 0, unknown: 0, longestMs: 0, pauseMs: 0 }
  const state = { isStopped: false, madeAtMs: performance.now() }
  const share = Math.floor(parts.keys.length / parts.writers)
  const running = Array.from({ length: parts.writers }, async (_, index) => {
    const keys = parts.keys.slice(index * share, (index + 1) * share)
    const writer = new Writer({ ...parts, keys }, stats, state)
    while (!state.isStopped) {
      await writer.mutate()
      if (parts.pauseMs !== undefined) await sleep(parts.pauseMs)
    }
  })
  // A writer that fails early is reported by stop().
  for (const one of running) one.catch(() => {})
  return {
    stats,
    restartPauses: () => {
      stats.pauseMs = 0
      state.madeAtMs = performance.now()
    },
    stop: async () => {
      state.isStopped = true
      await Promise.all(running)
    },
  }
}

interface Sent {
  readonly action: string
  readonly name: string
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly json?: unknown
  /** With a key, the request is repeated until it gets a response. */
  readonly idempotencyKey?: string
}

class Writer {
  readonly #parts: WriterParts
  readonly #stats: WriterStats
  readonly #state: { isStopped: boolean; madeAtMs: number }
  #sent = 0
  #current: string | undefined
  #name = ''

  constructor(parts: WriterParts, stats: WriterStats, state: { isStopped: boolean; madeAtMs: number }) {
    this.#parts = parts
    this.#stats = stats
    this.#state = state
  }

  async mutate(): Promise<void> {
    const dice = this.#parts.random()
    if (this.#current === undefined) await this.#create(dice < 0.5)
    else if (dice < 0.2) await this.#openIncident(this.#current, dice < 0.1)
    else if (dice < 0.6) await this.#rename(this.#current)
    else if (dice < 0.8) await this.#delete(this.#current)
    else this.#current = undefined
  }

  async #create(isRepeated: boolean): Promise<void> {
    const name = randomUUID()
    const regions = REGIONS.slice(0, 1 + Math.floor(this.#parts.random() * 3))
    const response = await this.#send({
      ...{ action: 'service.create', name, method: 'POST', path: '/v1/services' },
      json: serviceBody({ name, regions }),
      ...(isRepeated ? { idempotencyKey: randomUUID() } : {}),
    })
    if (response === undefined) return
    const { id } = serviceResponseSchema.parse(response.json)
    this.#parts.ledger.services.set(id, response.text)
    this.#current = id
    this.#name = name
  }

  async #rename(id: string): Promise<void> {
    const name = randomUUID()
    const sent = { action: 'service.replace', name, method: 'PATCH', path: `/v1/services/${id}` } as const
    const response = await this.#change(id, { ...sent, json: serviceBody({ name }) })
    if (response === undefined) return
    this.#parts.ledger.services.set(id, response.text)
    this.#name = name
  }

  async #delete(id: string): Promise<void> {
    const sent = { action: 'service.delete', name: this.#name, method: 'DELETE' } as const
    const response = await this.#change(id, { ...sent, path: `/v1/services/${id}` })
    if (response === undefined) return
    this.#parts.ledger.services.set(id, null)
    this.#current = undefined
  }

  async #openIncident(id: string, isRepeated: boolean): Promise<void> {
    const name = randomUUID()
    const response = await this.#send({
      ...{ action: 'incident.create', name, method: 'POST', path: '/v1/incidents' },
      json: { title: name, message: 'x', severity: 'major_outage', service_ids: [id] },
      ...(isRepeated ? { idempotencyKey: randomUUID() } : {}),
    })
    if (response === undefined) return
    this.#parts.ledger.displayIds.set(name, incidentSchema.parse(response.json).display_id)
  }

  /** Like `#send`, for the service `id`. After an unknown outcome the writer does not use the service again. */
  async #change(id: string, sent: Sent): Promise<ApiResponse | undefined> {
    const known = this.#parts.ledger.services.get(id)
    this.#parts.ledger.services.delete(id)
    const response = await this.#send(sent)
    const { outcomes } = this.#parts.ledger
    const isUnknown = outcomes.get(`${sent.action} ${sent.name}`)?.includes('unknown') === true
    if (isUnknown) this.#current = undefined
    else if (known !== undefined) this.#parts.ledger.services.set(id, known)
    return response
  }

  /** The response, if its status is 2xx; `undefined` for any other or none. */
  async #send(sent: Sent): Promise<ApiResponse | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const outcome = await this.#try(sent)
      if (typeof outcome !== 'string') return outcome
      if (outcome === 'limited') continue
      await sleep(PAUSE_MS)
      if (sent.idempotencyKey === undefined) return undefined
    }
    throw new Error(`${sent.action} got no response in ${TRIES_MAX} tries`)
  }

  async #try({
    action,
    name,
    method,
    path,
    json,
    idempotencyKey,
  }: Sent): Promise<ApiResponse | Outcome | 'limited'> {
    const { ledger, servers, keys, random } = this.#parts
    const urls = servers()
    const url = urls[Math.floor(random() * urls.length)] ?? ''
    const key = keys[Math.floor(this.#sent++ / REQUESTS_PER_KEY) % keys.length] ?? ''
    const begunAtMs = performance.now()
    const response = await apiClient(url, key)
      .call(method, path, {
        ...(json === undefined ? {} : { json }),
        ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
      })
      .catch((error: unknown) => {
        if (error instanceof Error && 'code' in error) return undefined
        throw error
      })
    const nowMs = performance.now()
    this.#stats.longestMs = Math.max(this.#stats.longestMs, nowMs - begunAtMs)
    if (response?.status === 429) return 'limited'
    const outcome = outcomeOf(action, response)
    record(ledger, action, name, outcome)
    this.#stats[outcome] += 1
    if (outcome !== 'made' || response === undefined) return outcome
    this.#stats.pauseMs = Math.max(this.#stats.pauseMs, nowMs - this.#state.madeAtMs)
    this.#state.madeAtMs = nowMs
    return response
  }
}

function outcomeOf(action: string, response: ApiResponse | undefined): Outcome {
  if (response === undefined || response.status === 502) return 'unknown'
  if (response.status < 300) return 'made'
  if (response.status === 500) return 'refused'
  throw new Error(`${action} got ${response.status}: ${response.text}`)
}
