import type { Logger } from 'pino'
import type { Results } from '../results/threads/results.ts'
import type { MonitoringStore } from '../store/monitoringStore.ts'
import type { MonitoredServices } from './monitoredServices.ts'

/** Interval between announcements, which combine the changes of many requests (milliseconds). */
const GATHER_MS = 100
/** Delay before a failed announcement is retried (milliseconds). */
const RETRY_MS = 1_000
/** Maximum number of services per announcement. */
const CHANGES_MAX = 500

/** Dependencies of announcements. */
export interface AnnouncementsParts {
  readonly store: Pick<MonitoringStore, 'newestCommand' | 'changedServices'>
  readonly services: MonitoredServices
  readonly results: Pick<Results, 'update'>
  readonly log: Logger
}

/** Reads changed services from the store, and announces them to the results and then to the agents. */
export class Announcements {
  readonly #parts: AnnouncementsParts
  readonly #onAnnounced: () => void
  #upTo = 0
  /** When the last announcement began (monotonic milliseconds). */
  #begunMs = Number.NEGATIVE_INFINITY
  #gathering: NodeJS.Timeout | undefined
  #announcing: Promise<void> = Promise.resolve()
  #isClosed = false

  /** `onAnnounced` follows each announcement. */
  constructor(parts: AnnouncementsParts, onAnnounced: () => void) {
    this.#parts = parts
    this.#onAnnounced = onAnnounced
  }

  /** Number of the newest announced command. */
  get upTo(): number {
    return this.#upTo
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Considers all changes so far as announced. Resolves with the number of the newest command. */
  async open(): Promise<number> {
    this.#upTo = await this.#parts.store.newestCommand()
    return this.#upTo
  }

  /** Announces new changes soon, together with those of other requests. */
  schedule(): void {
    this.#announceIn(Math.max(0, this.#begunMs + GATHER_MS - performance.now()))
  }

  /** Ends after the announcement in progress. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#gathering)
    await this.#announcing
  }

  #announceIn(delayMs: number): void {
    if (this.#isClosed) return
    this.#gathering ??= setTimeout(() => {
      this.#announcing = this.#announcing.then(() => {
        // Not before the previous one has ended, which may wait for the database: at most one is pending.
        this.#gathering = undefined
        this.#begunMs = performance.now()
        return this.#announceChanges()
      })
    }, delayMs)
  }

  async #announceChanges(): Promise<void> {
    const { store, services, results, log } = this.#parts
    try {
      const upTo = await store.newestCommand()
      // After a close, the next start reads all services.
      while (!this.#isClosed) {
        const range = { after: this.#upTo, upTo, countMax: CHANGES_MAX }
        const changed = await store.changedServices(range)
        const newest = changed.at(-1)
        if (newest === undefined) break
        await results.update(() => services.readSome(changed.map(({ serviceId }) => serviceId)))
        this.#upTo = newest.sequence
        this.#onAnnounced()
      }
    } catch (error) {
      log.error({ err: error }, 'a change could not be announced to the agents')
      // Nothing else would retry.
      this.#announceIn(RETRY_MS)
    }
  }
}
