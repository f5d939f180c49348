import type { Client } from '../../api/client/client.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'

/** How long the first reads of a walk wait for company (milliseconds): Terraform asks for ten at a time. */
const COMPANY_MS = 8

/** Distinct services up to which a walk asks for each by itself; with one more the whole list is cheaper. */
const SINGLE_READS_MAX = 2

/**
 * Reads of services, coalesced: a walk that reads more than two services costs one list request, however many
 * there are. What this process wrote is read as it was answered, never as an older list shows it.
 */
export class ServiceReads {
  readonly #client: Client
  readonly #asked = new Set<string>()
  /** The last answer to a write of ours; `null` for a service that we deleted. */
  readonly #written = new Map<string, ServiceResponse | null>()
  readonly #single = new Map<string, Promise<ServiceResponse | null>>()
  #listed: Promise<ReadonlyMap<string, ServiceResponse | Error>> | undefined

  constructor(client: Client) {
    this.#client = client
  }

  /** The service, or `null` when it does not exist. Absence from the list is confirmed by asking for it. */
  async read(id: string, signal: AbortSignal): Promise<ServiceResponse | null> {
    this.#asked.add(id)
    if (this.#listed === undefined && this.#written.get(id) === undefined) {
      await new Promise((resolve) => setTimeout(resolve, COMPANY_MS))
    }
    const written = this.#written.get(id)
    if (written !== undefined) return written
    if (this.#listed === undefined && this.#asked.size <= SINGLE_READS_MAX) return this.#readOne(id, signal)
    const listed = (await this.list(signal)).get(id)
    if (listed instanceof Error) throw listed
    return this.#written.get(id) ?? listed ?? this.#readOne(id, signal)
  }

  /** Remembers the answer to a write; `null` after a deletion. */
  wrote(id: string, answer: ServiceResponse | null): void {
    this.#written.set(id, answer)
    this.#single.delete(id)
  }

  /** All services by id, asked for once; one that cannot be read is the Error that says so. */
  list(signal: AbortSignal): Promise<ReadonlyMap<string, ServiceResponse | Error>> {
    this.#listed ??= this.#client
      .listServices({ signal })
      .then(({ services, unreadable }) => {
        const entries: (readonly [string, ServiceResponse | Error])[] = [
          ...services.map((service) => [service.id, service] as const),
          ...unreadable.map(({ id, problem }) => [id, unreadableError(id, problem)] as const),
        ]
        return new Map(entries)
      })
      .catch((error: unknown) => {
        this.#listed = undefined
        throw error
      })
    return this.#listed
  }

  #readOne(id: string, signal: AbortSignal): Promise<ServiceResponse | null> {
    const pending =
      this.#single.get(id) ??
      this.#client.getService(id, { signal }).catch((error: unknown) => {
        this.#single.delete(id)
        if (error instanceof ApiError && error.code === 'not_found') return null
        throw error
      })
    this.#single.set(id, pending)
    return pending
  }
}

function unreadableError(id: string, problem: string): Error {
  return new Error(`service ${id} cannot be read by this version of the provider: ${problem}`)
}
