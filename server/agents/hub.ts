import type { Logger } from 'pino'
import {
  PROTOCOL,
  type ResultsAnswer,
  resultsRequestSchema,
  type SyncAnswer,
  syncRequestSchema,
} from '../../monitoring/protocol/messages.ts'
import type { Bus } from '../bus/bus.ts'
import type { Results } from '../results/results.ts'
import type { MonitoringStore } from '../store/store.ts'
import { type FeedParts, feedPage } from './feed.ts'
import type { MonitoredServices } from './monitoredServices.ts'

/** Pause before changes are announced, so that those of many requests are announced together (milliseconds). */
const GATHER_MS = 100
/** Pause before changes that could not be announced are tried again (milliseconds). */
const ANNOUNCE_AGAIN_MS = 1_000
/** Most services that are announced at once. */
const CHANGES_MAX = 500

/** What a hub is made of. */
export interface HubParts extends FeedParts {
  readonly store: MonitoringStore & FeedParts['store']
  readonly services: MonitoredServices
  readonly results: Pick<Results, 'update' | 'ingest'>
  readonly nowMs: () => number
  readonly log: Logger
}

/**
 * Where agents meet the server: they ask what to check, and hand over what they found. As a bus it only takes that
 * something changed: agents read from the store what that is.
 */
export class Hub implements Bus {
  readonly #parts: HubParts
  readonly #waiting = new Set<() => void>()
  #announcedUpTo = 0
  #gathering: NodeJS.Timeout | undefined
  #announcing: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: HubParts) {
    this.#parts = parts
  }

  /** Takes what there is when the server starts, before any agent asks. */
  async open(): Promise<void> {
    this.#announcedUpTo = await this.#parts.store.newestCommand()
  }

  async publish(): Promise<void> {
    this.#announceIn(GATHER_MS)
  }

  /** Answers a sync of an agent of `region`: at once when something changed, else when it does, or in time. */
  async sync(region: string, body: unknown, signal: AbortSignal): Promise<SyncAnswer> {
    const request = syncRequestSchema.parse(body)
    const deadlineMs = performance.now() + request.wait_ms
    let { cursor } = request
    for (;;) {
      const upTo = this.#announcedUpTo
      const page = await feedPage(this.#parts, region, { cursor, upTo })
      const inventory = this.#inventoryOf(region, request.inventory)
      const isNews = page.start.length > 0 || page.end.length > 0 || page.whole || page.more
      const leftMs = deadlineMs - performance.now()
      if (isNews || leftMs <= 0 || signal.aborted)
        return this.#answer(region, request.instance, page, inventory)
      cursor = page.cursor
      if (upTo === this.#announcedUpTo) await this.#change(leftMs, signal)
    }
  }

  /** Stores results of an agent that checks `regions`. Rejects when they have to be sent again. */
  async ingest(regions: readonly string[], body: unknown): Promise<ResultsAnswer> {
    return this.#parts.results.ingest({ regions, request: resultsRequestSchema.parse(body) })
  }

  /** Hands all services to the results anew, as after a change of a region's mode. */
  reloadServices(): Promise<void> {
    const { results, services } = this.#parts
    return results.update(async () => ({ services: await services.readAll(), ended: [], isWhole: true }))
  }

  /** Answers every agent that waits, and announces nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#gathering)
    this.#wake()
    await this.#announcing
  }

  async #announceChanges(): Promise<void> {
    const { store, services, results, log } = this.#parts
    try {
      const upTo = await store.newestCommand()
      for (;;) {
        const range = { after: this.#announcedUpTo, upTo, countMax: CHANGES_MAX }
        const changed = await store.changedServices(range)
        const newest = changed.at(-1)
        if (newest === undefined) break
        await results.update(() => services.readSome(changed.map(({ serviceId }) => serviceId)))
        this.#announcedUpTo = newest.sequence
        this.#wake()
      }
    } catch (error) {
      log.error({ err: error }, 'a change could not be announced to the agents')
      // Nothing else would come back to it.
      this.#announceIn(ANNOUNCE_AGAIN_MS)
    }
  }

  #announceIn(delayMs: number): void {
    if (this.#isClosed) return
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      this.#announcing = this.#announcing.then(() => this.#announceChanges())
    }, delayMs)
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #change(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      signal.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }

  #inventoryOf(
    region: string,
    reported: { readonly count: number; readonly hash: string },
  ): 'same' | 'different' {
    const { count, hash } = this.#parts.services.inventoryOf(region)
    return count === reported.count && hash === reported.hash ? 'same' : 'different'
  }

  #answer(
    region: string,
    instance: string,
    { start, end, ...page }: Awaited<ReturnType<typeof feedPage>>,
    inventory: SyncAnswer['inventory'],
  ): SyncAnswer {
    const { storeId: store, nowMs } = this.#parts
    return {
      ...{ protocol: PROTOCOL, store, region, now_ms: nowMs(), epoch: 1, members: [instance], inventory },
      ...page,
      start: [...start],
      end: [...end],
    }
  }
}
