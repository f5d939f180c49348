import type { Client } from '../../../api/client/client.ts'
import { ApiError } from '../../../api/contract/apiError.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { DiagnosticError, errorAt } from '../../protocol/authoring/diagnostics.ts'
import { SharedRequest } from './sharedRequest.ts'

/** How long the first reads of a walk wait for company (milliseconds): Terraform asks for ten at a time. */
const COMPANY_MS = 8

/** Distinct services up to which a walk asks for each by itself; with one more the whole list is cheaper. */
export const SINGLE_READS_MAX = 2

/** Services missing in the list that are asked for one by one; a second list confirms the absence of the rest. */
export const CONFIRMATIONS_MAX = 3

/** A service as the state has it. `orgId` is null right after an import. */
export interface KnownService {
  readonly id: string
  readonly orgId: string | null
}

/** Services by id; one that cannot be read is the Error that says so. */
export type ServicesById = ReadonlyMap<string, ServiceResponse | Error>

/**
 * Reads of services, coalesced: a walk that reads more than two services costs one list request, however many
 * there are. What this process wrote is read as it was answered, never as an older list shows it, and no
 * service is believed deleted before a second answer says so.
 */
export class ServiceReads {
  readonly #client: Client
  readonly #checkOrg: (orgId: string, signal: AbortSignal) => Promise<void>
  readonly #asked = new Set<string>()
  /** The last answer to a write of ours; `null` for a service that we deleted. */
  readonly #written = new Map<string, ServiceResponse | null>()
  readonly #single = new Map<string, SharedRequest<ServiceResponse | null>>()
  readonly #listed = new SharedRequest((signal) => this.#fetch(signal))
  readonly #listedAgain = new SharedRequest((signal) => this.#fetch(signal))
  readonly #listedFirst = new SharedRequest((signal) => this.#fetch(signal))
  #confirmations = 0

  /** `checkOrg` throws when the key belongs to another organisation than the one it is given. */
  constructor(client: Client, checkOrg: (orgId: string, signal: AbortSignal) => Promise<void>) {
    this.#client = client
    this.#checkOrg = checkOrg
  }

  /**
   * The service, or `null` when it does not exist. Throws when its absence is only that of another
   * organisation's key, and when it cannot be read.
   */
  async read({ id, orgId }: KnownService, signal: AbortSignal): Promise<ServiceResponse | null> {
    this.#asked.add(id)
    if (!this.#listed.isAsked && !this.#written.has(id)) {
      await new Promise((resolve) => setTimeout(resolve, COMPANY_MS))
    }
    const written = this.#written.get(id)
    if (written !== undefined) return written
    if (!this.#listed.isAsked && this.#asked.size <= SINGLE_READS_MAX) {
      const service = await this.#readOne(id, signal)
      if (service === null && orgId !== null) await this.#checkOrg(orgId, signal)
      return service
    }
    return this.#current(id, await this.#listed.answer(signal)) ?? this.#confirm(id, orgId, signal)
  }

  /** Remembers the answer to a write of ours. */
  wrote(answer: ServiceResponse, change: 'created' | 'changed'): void {
    if (change === 'created') this.#listed.forget()
    this.#written.set(answer.id, answer)
  }

  /** Remembers that we deleted a service. */
  deleted(id: string): void {
    this.#listed.forget()
    this.#written.set(id, null)
  }

  /** All services, after everything that this process wrote: asked for anew when a service came or went. */
  async list(signal: AbortSignal): Promise<ServicesById> {
    const services = new Map(await this.#listed.answer(signal))
    for (const [id, answer] of this.#written) {
      if (answer === null) services.delete(id)
      else services.set(id, answer)
    }
    return services
  }

  /**
   * Services that `isWanted` accepts and that were there before this process created or deleted anything: asked
   * for once.
   */
  async thereBefore(
    isWanted: (service: ServiceResponse) => boolean,
    signal: AbortSignal,
  ): Promise<readonly ServiceResponse[]> {
    return this.#notWritten(await this.#listedFirst.answer(signal), isWanted)
  }

  /**
   * Services that this process did not write and `isWanted` accepts, by a list that starts now. One that
   * `thereBefore` knows of is none.
   */
  async unclaimed(
    isWanted: (service: ServiceResponse) => boolean,
    signal: AbortSignal,
  ): Promise<readonly ServiceResponse[]> {
    const before = this.#listedFirst.isAsked ? await this.#listedFirst.answer(signal) : new Map()
    const now = await this.#fetch(signal)
    return this.#notWritten(now, (service) => !before.has(service.id) && isWanted(service))
  }

  /** Whether the last answer to a write of this process was about service `id`. */
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

  /** `id` is not in the list: it was created since, or it is gone. */
  async #confirm(id: string, orgId: string | null, signal: AbortSignal): Promise<ServiceResponse | null> {
    // Asked first: with the key of another organisation everything is missing, and none of it is gone.
    if (orgId !== null) await this.#checkOrg(orgId, signal)
    if (this.#single.has(id) || this.#confirmations < CONFIRMATIONS_MAX) {
      this.#confirmations += 1
      return this.#readOne(id, signal)
    }
    return this.#current(id, await this.#listedAgain.answer(signal)) ?? null
  }

  /** Throws the Error that stands for a service that cannot be read. */
  #current(id: string, services: ServicesById): ServiceResponse | null | undefined {
    // What was written while the list was on its way is newer than the list.
    const written = this.#written.get(id)
    if (written !== undefined) return written
    const listed = services.get(id)
    if (listed instanceof Error) {
      const detail = `${listed.message}. A newer version of the provider may be able to.`
      throw new DiagnosticError(errorAt(undefined, `Cannot read service ${id}`, detail))
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
    const asked = this.#single.get(id) ?? new SharedRequest((wanted) => this.#getOne(id, wanted))
    this.#single.set(id, asked)
    return asked.answer(signal)
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
