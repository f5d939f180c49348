import { ConnectionError } from '../../api/client/attempt.ts'
import type { ServiceClient, ServiceList } from '../../api/client/client.ts'
import type { CallOptions } from '../../api/client/request.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import type { SensitiveOutput, ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'

/** What becomes of one request that changes something. */
type Fault = 'pass' | 'lose' | 'late' | 'drop' | 'internal' | 'bad-gateway' | 'not-sent'

/** Longest time that a request without a response may still be on its way (milliseconds): less than any grace. */
const LATENESS_MS_MAX = 20_000
/** The same for a creation to a server that honours its key: more than any grace. */
export const KEYED_LATENESS_MS_MAX = 200_000
/** Longest time that one request takes (milliseconds). */
const LATENCY_MS_MAX = 400
/** How often a request that may be repeated is sent, as the real client does. */
const ATTEMPTS_MAX = 5
const ORG_ID = '00000000-0000-4000-8000-000000000000'

/** Time that only the scenario moves. */
export interface ScenarioClock {
  nowMs: number
}

/** A service in the model, and who made it. */
interface ModelService {
  readonly response: ServiceResponse
  readonly madeBy: 'us' | 'others'
}

/**
 * An API that misbehaves on request, without a network: responses are lost, requests land late or not at all.
 * It keeps who made each service, and counts what we do to those of others.
 */
export class ModelServer {
  readonly services = new Map<string, ModelService>()
  /** Names of the services that we deleted, in order. */
  readonly deleted: string[] = []
  /** How often we wrote to a service of others. */
  foreignWrites = 0
  /** Longest time that a change waits for its turn (milliseconds). */
  turnMsMax = 0
  /** How often of ten a request meets a fault. */
  faultsInTen = 0
  /** Whether it makes the attempts of a creation with the same key one. */
  honoursKeys = false
  readonly #creations = new Map<string, { readonly body: string; readonly response: ServiceResponse }>()
  readonly #clock: ScenarioClock
  readonly #random: () => number
  #late: { readonly landsAtMs: number; readonly land: () => unknown }[] = []
  #ids = 0

  constructor(clock: ScenarioClock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  /** Lets `delayMs` pass: what was late lands when its time comes. */
  pass(delayMs: number): void {
    this.#clock.nowMs += Math.round(delayMs)
    const due = this.#late.filter(({ landsAtMs }) => landsAtMs <= this.#clock.nowMs)
    this.#late = this.#late.filter((one) => !due.includes(one))
    for (const { land } of due) land()
  }

  /** Another client creates a service. */
  makeForeign(request: ServiceRequest): void {
    this.#make(request, 'others')
  }

  /** Another client changes or deletes one of our services. */
  tamper(id: string, change: Partial<ServiceResponse> | null): void {
    const service = this.services.get(id)
    if (service === undefined) return
    if (change === null) this.services.delete(id)
    else this.services.set(id, { ...service, response: { ...service.response, ...change } })
  }

  /** A client of one process, which calls `breathe` at every boundary: it throws once the process is dead. */
  client(breathe: () => void): ServiceClient {
    const changing = <Reply>(effect: () => Reply, options: CallOptions = {}): Promise<Reply> =>
      this.#repeat(() => this.#request(effect, options, breathe))
    return {
      getOrg: () =>
        this.#reading(breathe, () => ({ id: ORG_ID, name: 'Org', plan: 'business', scope: 'read_write' })),
      listRegions: () => this.#reading(breathe, () => []),
      getService: (id) => this.#reading(breathe, () => this.#own(id).response),
      listServices: () =>
        this.#reading(
          breathe,
          (): ServiceList => ({
            services: [...this.services.values()].map(({ response }) => structuredClone(response)),
            unreadable: [],
          }),
        ),
      createService: (request, key, options) => {
        const create = (): ServiceResponse => this.#create(request, key)
        const latenessMs = this.honoursKeys ? KEYED_LATENESS_MS_MAX : LATENESS_MS_MAX
        return this.#request(create, options ?? {}, breathe, latenessMs)
      },
      replaceService: (id, request, options) => changing(() => this.#replace(id, request), options),
      deleteService: (id, options) => changing(() => this.#delete(id), options),
      pauseService: (id, options) => changing(() => this.#pause(id, '2026-01-01T00:00:00.000Z'), options),
      resumeService: (id, options) => changing(() => this.#pause(id, null), options),
    }
  }

  async #reading<Reply>(breathe: () => void, read: () => Reply): Promise<Reply> {
    breathe()
    await this.#delay()
    breathe()
    return read()
  }

  async #repeat<Reply>(request: () => Promise<Reply>): Promise<Reply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await request()
      } catch (error) {
        const isRetryable =
          error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500)
        if (!isRetryable || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  async #request<Reply>(
    effect: () => Reply,
    options: CallOptions,
    breathe: () => void,
    latenessMsMax = LATENESS_MS_MAX,
  ): Promise<Reply> {
    breathe()
    this.pass(this.#random() * this.turnMsMax)
    await options.beforeSend?.()
    options.assertMaySend?.()
    breathe()
    const fault = this.#nextFault()
    if (fault === 'not-sent') throw new ConnectionError('refused', 'not-sent')
    if (fault === 'internal') throw new ApiError('internal', 'internal', { status: 500 })
    if (fault === 'late') {
      const landsAtMs = this.#clock.nowMs + Math.round(this.#random() * latenessMsMax)
      this.#late.push({ landsAtMs, land: () => quietly(effect) })
    }
    const result = fault === 'drop' || fault === 'late' ? undefined : { value: effect() }
    await this.#delay()
    // A process that dies here never sees what its request did.
    breathe()
    if (fault === 'bad-gateway') throw new ApiError('internal', 'bad gateway', { status: 502 })
    if (result === undefined || fault === 'lose') throw new ConnectionError('no response', 'unknown')
    return result.value
  }

  async #delay(): Promise<void> {
    await Promise.resolve()
    this.pass(this.#random() * LATENCY_MS_MAX)
  }

  #nextFault(): Fault {
    if (this.#random() * 10 >= this.faultsInTen) return 'pass'
    const faults: readonly Fault[] = ['lose', 'late', 'drop', 'internal', 'bad-gateway', 'not-sent']
    return faults[Math.floor(this.#random() * faults.length)] ?? 'pass'
  }

  #create(request: ServiceRequest, key: string): ServiceResponse {
    const body = JSON.stringify(request)
    const earlier = this.honoursKeys ? this.#creations.get(key) : undefined
    if (earlier === undefined) {
      const response = this.#make(request, 'us')
      this.#creations.set(key, { body, response })
      return structuredClone(response)
    }
    if (earlier.body !== body) throw new ApiError('invalid', 'the key was used for another body')
    return structuredClone(earlier.response)
  }

  #make(request: ServiceRequest, madeBy: ModelService['madeBy']): ServiceResponse {
    this.#ids += 1
    const id = `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`
    const response = responseOf(id, request, null)
    this.services.set(id, { response, madeBy })
    return structuredClone(response)
  }

  #replace(id: string, request: ServiceRequest): ServiceResponse {
    const service = this.#own(id)
    const response = responseOf(id, request, service.response.paused_at ?? null)
    this.services.set(id, { ...service, response })
    return structuredClone(response)
  }

  #pause(id: string, pausedAt: string | null): ServiceResponse {
    const service = this.#own(id)
    const response = { ...service.response, paused_at: pausedAt }
    this.services.set(id, { ...service, response })
    return structuredClone(response)
  }

  #delete(id: string): void {
    this.deleted.push(this.#own(id).response.name)
    this.services.delete(id)
  }

  #own(id: string): ModelService {
    const service = this.services.get(id)
    if (service === undefined) throw new ApiError('not_found', 'not found', { status: 404 })
    if (service.madeBy !== 'us') this.foreignWrites += 1
    return service
  }
}

/** A request that lands late on a service that is gone by then does nothing. */
function quietly(effect: () => unknown): void {
  try {
    effect()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

function responseOf(id: string, request: ServiceRequest, pausedAt: string | null): ServiceResponse {
  return {
    ...request,
    id,
    org_id: ORG_ID,
    endpoints: request.endpoints.map((endpoint) => ({
      ...endpoint,
      id,
      blocked: false,
      call: {
        Http: {
          ...endpoint.call.Http,
          body: null,
          headers: Object.fromEntries(
            Object.entries(endpoint.call.Http.headers ?? {}).map(
              ([name, { value }]): [string, SensitiveOutput] => [name, { Plain: value }],
            ),
          ),
        },
      },
    })),
    created_at: '2026-01-01T00:00:00.000Z',
    paused_at: pausedAt,
    auto_incident_enabled: false,
  }
}
