import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { Measurements, ServiceDay } from '../../results/measurements/measurements.ts'
import { ResultsBusyError } from '../../results/threads/resultsBusyError.ts'
import type { PageAddress, PublishedStore } from '../../store/statusPageStore.ts'
import type { PublicPage } from './publicPage.ts'
import { daysShown, type PageMeasurements, readPublicPage } from './readPublicPage.ts'

/** Shortest lifetime of a view (milliseconds): a change is public after at most a second. */
const RENEW_MS = 1_000
/** Lifetime of a view without changes (milliseconds); its "as of" minute changes. */
const QUIET_MS = 15_000
/** How long the past is cached (milliseconds): late results change past days, removals the oldest month. */
const PAST_MS = 60_000
/** How long states are shown while results cannot be read, before they become unknown (milliseconds). */
const BUSY_MS = 60_000
/** Maximum wait for measurements (milliseconds); beyond, results count as unreadable. */
const MEASURE_MS_MAX = 8_000
/** Maximum number of cached views: ninety days of 200 components take some MiB. */
const VIEWS_MAX = 100
/** Maximum number of cached addresses without a page. */
const UNKNOWN_MAX = 1_000

/** A page at one instant. A newer view is a new object. */
export interface PageView {
  readonly page: StatusPage
  readonly shown: PublicPage
  /** YYYY-MM of the page or its oldest incident: history begins there. */
  readonly oldestMonth: string
}

/** Data sources of views. */
export interface ViewSources {
  readonly store: PublishedStore
  /** `undefined` without results: every state is unknown. */
  readonly measurements: Pick<Measurements, 'states' | 'days' | 'onChange'> | undefined
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** Default MEASURE_MS_MAX. */
  readonly measureMsMax?: number
}

interface Measured {
  readonly measured: PageMeasurements
  /** The days before the present one; `last` is the newest. */
  readonly past: { readonly last: string; readonly days: readonly ServiceDay[]; readonly atMs: number }
  readonly measuredAtMs: number
}

interface CachedView extends Measured {
  readonly view: PageView
  /** When its oldest month was read (monotonic milliseconds). */
  readonly oldestAtMs: number
  /** Next begin or end of a maintenance window (milliseconds since the epoch). */
  readonly windowAtMs: number
  /** Change count before it was read. */
  readonly changeCount: number
  readonly readAtMs: number
  checkedAtMs: number
  isMarked: boolean
}

/** Cached views of pages. A view is read again on request after a change, at most once in RENEW_MS. */
export class PageViews {
  readonly #sources: ViewSources
  /** Least recently read first. */
  readonly #cache = new Map<string, CachedView>()
  readonly #reading = new Map<string, Promise<PageView | undefined>>()
  /** Addresses without a page, cached for RENEW_MS, and since when (monotonic milliseconds). */
  readonly #unknown = new Set<string>()
  #unknownSinceMs = 0
  /** Reads run one after another, so that the API runs between them. */
  #last: Promise<unknown> = Promise.resolve()
  /** Whether timed-out measurements are still running: others would wait behind them. */
  #isLate = false
  readonly #stop: () => void

  constructor(sources: ViewSources) {
    this.#sources = sources
    const ends = sources.measurements?.onChange((serviceIds) => this.#mark(serviceIds))
    this.#stop = ends ?? (() => {})
  }

  /** The cached view of a page, if it is current. */
  current(address: PageAddress): PageView | undefined {
    const cached = this.#cache.get(nameOf(address))
    return cached !== undefined && this.#isCurrent(cached) ? cached.view : undefined
  }

  /**
   * The current view of a page; `undefined` when there is no such public page. Rejects when the store cannot be read.
   */
  async read(address: PageAddress): Promise<PageView | undefined> {
    const name = nameOf(address)
    const current = this.current(address)
    if (current !== undefined) return current
    if (this.#isUnknown(name)) return undefined
    const known = this.#reading.get(name)
    if (known !== undefined) return known
    const reading = this.#last.then(() => this.#read(name, address))
    this.#last = reading.catch(() => {})
    this.#reading.set(name, reading)
    try {
      return await reading
    } finally {
      this.#reading.delete(name)
    }
  }

  stop(): void {
    this.#stop()
  }

  #mark(serviceIds: ReadonlySet<string>): void {
    for (const cached of this.#cache.values()) {
      const { sections } = cached.view.page
      cached.isMarked ||= sections.some(({ components }) =>
        components.some(({ serviceId }) => serviceIds.has(serviceId)),
      )
    }
  }

  #isCurrent(cached: CachedView): boolean {
    const nowMs = this.#sources.monotonicMs()
    if (nowMs - cached.checkedAtMs < RENEW_MS) return true
    if (cached.isMarked || nowMs - cached.readAtMs >= QUIET_MS) return false
    if (this.#sources.nowMs() >= cached.windowAtMs) return false
    if (cached.changeCount !== this.#sources.store.changeCount()) return false
    cached.checkedAtMs = nowMs
    return true
  }

  #isUnknown(name: string): boolean {
    const nowMs = this.#sources.monotonicMs()
    if (nowMs - this.#unknownSinceMs >= RENEW_MS || this.#unknown.size > UNKNOWN_MAX) {
      this.#unknown.clear()
      this.#unknownSinceMs = nowMs
    }
    return this.#unknown.has(name)
  }

  async #read(name: string, address: PageAddress): Promise<PageView | undefined> {
    const { store, nowMs, monotonicMs } = this.#sources
    const changeCount = store.changeCount()
    const page = await store.publishedPage(address)
    const before = this.#cache.get(name)
    this.#cache.delete(name)
    if (page === undefined) {
      this.#unknown.add(name)
      return undefined
    }
    const measured = await this.#measure(page, before)
    const shown = await readPublicPage(store, page, measured.measured, nowMs())
    const { oldestMonth, oldestAtMs } = await this.#oldest(page, before)
    const view = { page, shown, oldestMonth }
    const [oldest] = this.#cache.keys()
    if (this.#cache.size >= VIEWS_MAX && oldest !== undefined) this.#cache.delete(oldest)
    const readAtMs = monotonicMs()
    const times = {
      oldestAtMs,
      windowAtMs: nextWindowMs(shown),
      changeCount,
      readAtMs,
      checkedAtMs: readAtMs,
    }
    this.#cache.set(name, { view, ...measured, ...times, isMarked: false })
    return view
  }

  async #oldest(page: StatusPage, before: CachedView | undefined) {
    const { store, monotonicMs } = this.#sources
    const nowMs = monotonicMs()
    if (before !== undefined && isSame(before.view.page, page) && nowMs - before.oldestAtMs < PAST_MS) {
      return { oldestMonth: before.view.oldestMonth, oldestAtMs: before.oldestAtMs }
    }
    const first = (await store.oldestPageIncident(page)) ?? page.createdAt
    const oldest = first < page.createdAt ? first : page.createdAt
    return { oldestMonth: oldest.slice(0, 7), oldestAtMs: nowMs }
  }

  async #measure(page: StatusPage, before: CachedView | undefined): Promise<Measured> {
    const { measurements, monotonicMs } = this.#sources
    if (measurements === undefined) return NOTHING
    const measuredAtMs = monotonicMs()
    try {
      return await this.#inTime(() => this.#measured(measurements, page, before))
    } catch (error) {
      if (!(error instanceof ResultsBusyError)) throw error
      // The results thread restarts within seconds.
      return before !== undefined && measuredAtMs - before.measuredAtMs < BUSY_MS ? before : NOTHING
    }
  }

  /** Rejects with ResultsBusyError after `measureMsMax`, and at once while timed-out measurements are running. */
  async #inTime(measure: () => Promise<Measured>): Promise<Measured> {
    const { measureMsMax = MEASURE_MS_MAX } = this.#sources
    if (this.#isLate) throw new ResultsBusyError('earlier measurements are late')
    const measuring = measure()
    const end = (): void => {
      this.#isLate = false
    }
    let timer: NodeJS.Timeout | undefined
    const refusal = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#isLate = true
        measuring.then(end, end)
        reject(new ResultsBusyError('the results thread did not respond in time'))
      }, measureMsMax)
    })
    try {
      return await Promise.race([measuring, refusal])
    } finally {
      clearTimeout(timer)
    }
  }

  async #measured(
    measurements: NonNullable<ViewSources['measurements']>,
    page: StatusPage,
    before: CachedView | undefined,
  ): Promise<Measured> {
    const measuredAtMs = this.#sources.monotonicMs()
    const serviceIds = page.sections.flatMap(({ components }) => components.map((one) => one.serviceId))
    const states = await measurements.states(page.orgId, serviceIds)
    const shown = daysShown(this.#sources.nowMs())
    const [first = '', last = '', today = ''] = [shown[0], shown.at(-2), shown.at(-1)]
    const known = before !== undefined && isSame(before.view.page, page) ? before.past : undefined
    const isKnown = known?.last === last && measuredAtMs - known.atMs < PAST_MS
    const past = isKnown
      ? known
      : { last, days: await measurements.days(serviceIds, first, last), atMs: measuredAtMs }
    const present = await measurements.days(serviceIds, today, today)
    return {
      measured: {
        states: new Map(states.map((now) => [now.id, now])),
        days: [...past.days, ...present],
      },
      past,
      measuredAtMs,
    }
  }
}

const NOTHING: Measured = {
  measured: { states: new Map(), days: [] },
  past: { last: '', days: [], atMs: 0 },
  measuredAtMs: 0,
}

/** Whether it is the same unchanged page: another page may have taken the address. */
function isSame(before: StatusPage, page: StatusPage): boolean {
  return before.id === page.id && before.generation === page.generation
}

function nextWindowMs({ maintenance, readAtMs }: PublicPage): number {
  const edges = maintenance.flatMap(({ startsAt, endsAt }) => [Date.parse(startsAt), Date.parse(endsAt)])
  return Math.min(...edges.filter((edge) => edge > readAtMs), Number.POSITIVE_INFINITY)
}

function nameOf(address: PageAddress): string {
  return address.kind === 'slug' ? `slug ${address.slug}` : `host ${address.host}`
}
