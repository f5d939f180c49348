import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { incidentSchema } from '../../../api/contract/incident.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { type ApiAnswer, apiClient } from '../apiClient.ts'
import { serviceBody } from '../serviceBodies.ts'
import { type Ledger, type Outcome, record } from './ledger.ts'

/** Requests of a key, one after the other, before the writer uses its next one. */
const REQUESTS_PER_KEY = 10
/** Pause after an answer that says that nothing was done (milliseconds). */
const PAUSE_MS = 50
/** How often a writer sends a request until it is answered. */
const TRIES_MAX = 300
const REGIONS = ['eu-west-1', 'us-east-1', 'sa-east-1']

/** Clients that write through several servers. */
export interface WriterParts {
  /** Addresses of the servers; it may change. */
  readonly servers: () => readonly string[]
  /** Keys of one organisation; each writer uses some of them. */
  readonly keys: readonly string[]
  readonly writers: number
  /** Pause of each writer after a change (milliseconds); none when absent. */
  readonly pauseMs?: number
  readonly random: () => number
  readonly ledger: Ledger
}

/** How a run of writers went. */
export interface WriterFigures {
  made: number
  refused: number
  unknown: number
  /** Longest time to an answer (milliseconds). */
  longestMs: number
  /** Longest time without a change that was made, over all writers (milliseconds). */
  pauseMs: number
}

/** Writers at work. */
export interface Writers {
  readonly figures: Readonly<WriterFigures>
  /** Forgets pauses so far. */
  readonly restartPauses: () => void
  /** Lets each writer finish its mutation; rejects when an answer was none that the contract allows. */
  readonly stop: () => Promise<void>
}

/** Lets clients create, rename and delete services and open incidents until they are stopped. */
export function startWriters(parts: WriterParts): Writers {
  const figures: WriterFigures = { made: 0, refused: 0, unknown: 0, longestMs: 0, pauseMs: 0 }
  const state = { isStopped: false, madeAtMs: performance.now() }
  const share = Math.floor(parts.keys.length / parts.writers)
  const running = Array.from({ length: parts.writers }, async (_, index) => {
    const keys = parts.keys.slice(index * share, (index + 1) * share)
    const writer = new Writer({ ...parts, keys }, figures, state)
    while (!state.isStopped) {
      await writer.mutate()
      if (parts.pauseMs !== undefined) await sleep(parts.pauseMs)
    }
  })
  // A writer that fails early is reported by stop().
  for (const one of running) one.catch(() => {})
  return {
    figures,
    restartPauses: () => {
      figures.pauseMs = 0
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
  /** With a key, it is repeated until it is answered. */
  readonly idempotencyKey?: string
}

class Writer {
  readonly #parts: WriterParts
  readonly #figures: WriterFigures
  readonly #state: { isStopped: boolean; madeAtMs: number }
  #sent = 0
  #current: string | undefined
  #name = ''

  constructor(parts: WriterParts, figures: WriterFigures, state: { isStopped: boolean; madeAtMs: number }) {
    this.#parts = parts
    this.#figures = figures
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
    const answer = await this.#send({
      ...{ action: 'service.create', name, method: 'POST', path: '/v1/services' },
      json: serviceBody({ name, regions }),
      ...(isRepeated ? { idempotencyKey: randomUUID() } : {}),
    })
    if (answer === undefined) return
    const { id } = serviceResponseSchema.parse(answer.json)
    this.#parts.ledger.services.set(id, answer.text)
    this.#current = id
    this.#name = name
  }

  async #rename(id: string): Promise<void> {
    const name = randomUUID()
    const sent = { action: 'service.replace', name, method: 'PATCH', path: `/v1/services/${id}` } as const
    const answer = await this.#change(id, { ...sent, json: serviceBody({ name }) })
    if (answer === undefined) return
    this.#parts.ledger.services.set(id, answer.text)
    this.#name = name
  }

  async #delete(id: string): Promise<void> {
    const sent = { action: 'service.delete', name: this.#name, method: 'DELETE' } as const
    const answer = await this.#change(id, { ...sent, path: `/v1/services/${id}` })
    if (answer === undefined) return
    this.#parts.ledger.services.set(id, null)
    this.#current = undefined
  }

  async #openIncident(id: string, isRepeated: boolean): Promise<void> {
    const name = randomUUID()
    const answer = await this.#send({
      ...{ action: 'incident.create', name, method: 'POST', path: '/v1/incidents' },
      json: { title: name, message: 'x', severity: 'major_outage', service_ids: [id] },
      ...(isRepeated ? { idempotencyKey: randomUUID() } : {}),
    })
    if (answer === undefined) return
    this.#parts.ledger.displayIds.set(name, incidentSchema.parse(answer.json).display_id)
  }

  /** As `#send`, of the service `id`: after an unknown outcome the writer leaves it alone. */
  async #change(id: string, sent: Sent): Promise<ApiAnswer | undefined> {
    const known = this.#parts.ledger.services.get(id)
    this.#parts.ledger.services.delete(id)
    const answer = await this.#send(sent)
    const { outcomes } = this.#parts.ledger
    const isUnknown = outcomes.get(`${sent.action} ${sent.name}`)?.includes('unknown') === true
    if (isUnknown) this.#current = undefined
    else if (known !== undefined) this.#parts.ledger.services.set(id, known)
    return answer
  }

  /** The answer of 2xx; `undefined` when there was another one, or none. */
  async #send(sent: Sent): Promise<ApiAnswer | undefined> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const outcome = await this.#try(sent)
      if (typeof outcome !== 'string') return outcome
      if (outcome === 'limited') continue
      await sleep(PAUSE_MS)
      if (sent.idempotencyKey === undefined) return undefined
    }
    throw new Error(`${sent.action} was not answered in ${TRIES_MAX} tries`)
  }

  async #try({
    action,
    name,
    method,
    path,
    json,
    idempotencyKey,
  }: Sent): Promise<ApiAnswer | Outcome | 'limited'> {
    const { ledger, servers, keys, random } = this.#parts
    const urls = servers()
    const url = urls[Math.floor(random() * urls.length)] ?? ''
    const key = keys[Math.floor(this.#sent++ / REQUESTS_PER_KEY) % keys.length] ?? ''
    const begunAtMs = performance.now()
    const answer = await apiClient(url, key)
      .call(method, path, {
        ...(json === undefined ? {} : { json }),
        ...(idempotencyKey === undefined ? {} : { headers: { 'Idempotency-Key': idempotencyKey } }),
      })
      .catch((error: unknown) => {
        if (error instanceof Error && 'code' in error) return undefined
        throw error
      })
    const nowMs = performance.now()
    this.#figures.longestMs = Math.max(this.#figures.longestMs, nowMs - begunAtMs)
    if (answer?.status === 429) return 'limited'
    const outcome = outcomeOf(action, answer)
    record(ledger, action, name, outcome)
    this.#figures[outcome] += 1
    if (outcome !== 'made' || answer === undefined) return outcome
    this.#figures.pauseMs = Math.max(this.#figures.pauseMs, nowMs - this.#state.madeAtMs)
    this.#state.madeAtMs = nowMs
    return answer
  }
}

function outcomeOf(action: string, answer: ApiAnswer | undefined): Outcome {
  if (answer === undefined || answer.status === 502) return 'unknown'
  if (answer.status < 300) return 'made'
  if (answer.status === 500) return 'refused'
  throw new Error(`${action} was answered ${answer.status}: ${answer.text}`)
}
