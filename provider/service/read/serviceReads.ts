import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../../../api/client/client.ts'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { failure } from '../../protocol/authoring/diagnostics.ts'
import { SharedRequest } from './sharedRequest.ts'

/** Time for which the first reads of a walk wait for others (milliseconds). Terraform reads ten at a time. */
const COALESCE_MS = 8

/** Maximum number of services that a walk reads one by one. For more, the list is cheaper. */
export const SINGLE_READS_MAX = 2

/**
 * Maximum number of services missing from the list that are read one by one. For more, a second list confirms their
 * absence.
 */
export const CONFIRMATIONS_MAX = 3

/** A service of the state. `orgId` is null right after an import. */
export interface KnownService {
  readonly id: string
  readonly orgId: string | null
}

/** Services by id; an Error for one that cannot be parsed. */
export type ServicesById = ReadonlyMap<string, ServiceResponse | Error>

/**
 * Coalesces reads of services: a walk that reads more than two services takes one list request. Services written by
 * this process are returned from the responses to the writes, never from an older list. No service counts as deleted
 * before a second response confirms it.
 */
export class ServiceReads {
  readonly #client: Client
  readonly #checkOrg: (orgId: string, signal: AbortSignal) => Promise<void>
  readonly #asked = new Set<string>()
  /** The last response to a write of this process; `null` for a deleted service. */
  readonly #written = new Map<string, ServiceResponse | null>()
  readonly #single = new Map<string, SharedRequest<ServiceResponse | null>>()
  readonly #listed = new SharedRequest((signal) => this.#fetch(signal))
  readonly #listedAgain = new SharedRequest((signal) => this.#fetch(signal))
  readonly #listedFirst = new SharedRequest((signal) => this.#fetch(signal))
  #confirmations = 0

  /** `checkOrg` throws when the key does not belong to the given organisation. */
  constructor(client: Client, checkOrg: (orgId: string, signal: AbortSignal) => Promise<void>) {
    this.#client = client
    this.#checkOrg = checkOrg
  }

  /**
   * The service, or `null` when it does not exist. Throws when the key belongs to another organisation, and when the service cannot
   * be parsed.
   */
  async read({ id, orgId }: KnownService, signal: AbortSignal): Promise<ServiceResponse | null> {
    this.#asked.add(id)
    if (!this.#listed.isRequested && !this.#written.has(id)) await this.#waitForOtherReads()
    const written = this.#written.get(id)
    if (written !== undefined) return written
    if (!this.#listed.isRequested && this.#asked.size <= SINGLE_READS_MAX) {
      const service = await this.#readOne(id, signal)
      if (service === null && orgId !== null) await this.#checkOrg(orgId, signal)
      return service
    }
    return this.#current(id, await this.#listed.result(signal)) ?? this.#confirm(id, orgId, signal)
  }

  /** Records the response to a write of this process. */
  wrote(response: ServiceResponse, change: 'created' | 'changed'): void {
    if (change === 'created') this.#listed.forget()
    this.#written.set(response.id, response)
  }

  /** Records that this process deleted a service. */
  deleted(id: string): void {
    this.#listed.forget()
    this.#written.set(id, null)
  }

  /** All services, including the writes of this process. The list is read again after a creation or deletion. */
  async list(signal: AbortSignal): Promise<ServicesById> {
    const services = new Map(await this.#listed.result(signal))
    for (const [id, response] of this.#written) {
      if (response === null) services.delete(id)
      else services.set(id, response)
    }
    return services
  }

  /**
   * Services that `isWanted` accepts and that existed before this process created or deleted any. The list is read
   * once.
   */
  async preexisting(
    isWanted: (service: ServiceResponse) => boolean,
    signal: AbortSignal,
  ): Promise<readonly ServiceResponse[]> {
    return this.#notWritten(await this.#listedFirst.result(signal), isWanted)
  }

  /** Services that `isWanted` accepts and that this process did not write, from a new list, without those in `preexisting`. */
  async unclaimed(
    isWanted: (service: ServiceResponse) => boolean,
    signal: AbortSignal,
  ): Promise<readonly ServiceResponse[]> {
    const before = this.#listedFirst.isRequested ? await this.#listedFirst.result(signal) : new Map()
    const now = await this.#fetch(signal)
    return this.#notWritten(now, (service) => !before.has(service.id) && isWanted(service))
  }

  /** Whether this process has written service `id`. */
  hasWritten(id: string): boolean {
    return this.#written.has(id)
  }

  #notWritten(
    services: ServicesById,
    isWanted: (service: ServiceResponse) => boolean,
  ): readonly ServiceResponse[] {
    return [...services.values()].filter(
      (service): service is ServiceResponse =>
        !(service instanceof Error) && !this.#written.has(service.id) && isWanted(service),
    )
  }

  /** Waits for other reads, and meanwhile prepares the request. */
  async #waitForOtherReads(): Promise<void> {
    const waited = wait(COALESCE_MS)
    this.#client.prepare()
    await waited
    // The preparation may have taken the whole time: calls that arrived meanwhile are received first.
    await nextTurn()
  }

  /** Reads service `id`, which is not in the list because it was created since, or deleted. */
  async #confirm(id: string, orgId: string | null, signal: AbortSignal): Promise<ServiceResponse | null> {
    // Checked first: with the key of another organisation all services are missing, although none is deleted.
    if (orgId !== null) await this.#checkOrg(orgId, signal)
    if (this.#single.has(id) || this.#confirmations < CONFIRMATIONS_MAX) {
      this.#confirmations += 1
      return this.#readOne(id, signal)
    }
    return this.#current(id, await this.#listedAgain.result(signal)) ?? null
  }

  /** The service according to writes and the list. Throws the Error of a service that cannot be parsed. */
  #current(id: string, services: ServicesById): ServiceResponse | null | undefined {
    // Writes during the list request are newer than the list.
    const written = this.#written.get(id)
    if (written !== undefined) return written
    const listed = services.get(id)
    if (listed instanceof Error) {
      const detail = `${listed.message}. A newer version of the provider may be able to.`
      throw failure(`Cannot read service ${id}`, detail)
    }
    return listed
  }

  async #fetch(signal: AbortSignal): Promise<ServicesById> {
    const { services, unreadable } = await this.#client.listServices({ signal })
    return new Map<string, ServiceResponse | Error>([
      ...services.map((service) => [service.id, service] as const),
      ...unreadable.map(({ id, problem }) => [id, unreadableError(id, problem)] as const),
    ])
  }

  #readOne(id: string, signal: AbortSignal): Promise<ServiceResponse | null> {
    const pending = this.#single.get(id) ?? new SharedRequest((wanted) => this.#getOne(id, wanted))
    this.#single.set(id, pending)
    return pending.result(signal)
  }

  async #getOne(id: string, signal: AbortSignal): Promise<ServiceResponse | null> {
    try {
      return await this.#client.getService(id, { signal, lane: 'next' })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return null
      throw error
    }
  }
}

function unreadableError(id: string, problem: string): Error {
  return new Error(`This version of the provider cannot read service ${id}: ${problem}`)
}
