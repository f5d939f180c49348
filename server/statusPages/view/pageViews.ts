import type { StatusPage } from '../../domain/statusPages/definition.ts'
import type { Measurements, ServiceDay } from '../../results/measurements/measurements.ts'
import { ResultsBusyError } from '../../results/threads/resultsBusyError.ts'
import type { PageAddress, PublishedStore } from '../../store/statusPageStore.ts'
import type { PublicPage } from './publicPage.ts'
import { daysShown, type PageMeasurements, readPublicPage } from './readPublicPage.ts'

/** Time for which a view is current whatever changes (milliseconds): a change is public a second later at most. */
const RENEW_MS = 1_000
/** Time for which a view is current when nothing changed (milliseconds): its minute does. */
const QUIET_MS = 15_000
/** Time for which the past is kept (milliseconds): past days change by late results, the oldest month by removals. */
const PAST_MS = 60_000
/** Time for which states are kept while results cannot be read, before they are unknown (milliseconds). */
const BUSY_MS = 60_000
/** Longest time for which a page waits for measurements (milliseconds); they count as results that cannot be read then. */
const MEASURE_MS_MAX = 8_000
/** Most pages whose view is kept: ninety days of 200 components are some MiB. */
const VIEWS_MAX = 100
/** Most addresses without a page that are kept. */
const UNKNOWN_MAX = 1_000

/** A page as it was read at one instant. A newer one is another object. */
export interface PageView {
  readonly page: StatusPage
  readonly shown: PublicPage
  /** YYYY-MM of the page or of its oldest incident: there is no history before it. */
  readonly oldestMonth: string
}

/** What views are read from. */
export interface ViewSources {
  readonly store: PublishedStore
  /** `undefined` where nothing is checked: every state is unknown. */
  readonly measurements: Pick<Measurements, 'states' | 'days' | 'onChange'> | undefined
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Milliseconds of a clock that only runs forward. */
  readonly monotonicMs: () => number
  /** Default MEASURE_MS_MAX. */
  readonly measureMsMax?: number
}

/** The measurements of a page. */
interface Measured {
  readonly measured: PageMeasurements
  /** Days before the present one, which `last` is the newest of. */
  readonly past: { readonly last: string; readonly days: readonly ServiceDay[]; readonly atMs: number }
  readonly measuredAtMs: number
}

interface Kept extends Measured {
  readonly view: PageView
  /** When its oldest month was read. */
  readonly oldestAtMs: number
  /** When a maintenance window begins or ends next (milliseconds since the epoch). */
  readonly windowAtMs: number
  /** Count of commits before it was read. */
  readonly changeCount: number
  readonly readAtMs: number
  checkedAtMs: number
  isMarked: boolean
}

/** Views of pages. Each is read again when it is asked for and something changed, at most once in RENEW_MS. */
export class PageViews {
  readonly #sources: ViewSources
  /** The least recently read first. */
  readonly #kept = new Map<string, Kept>()
  readonly #reading = new Map<string, Promise<PageView | undefined>>()
  /** Names of addresses without a page, which are read again after RENEW_MS, and since when (monotonic milliseconds). */
  readonly #unknown = new Set<string>()
  #unknownSinceMs = 0
  /** Reads are one after another: the API runs between them. */
  #last: Promise<unknown> = Promise.resolve()
  /** Whether measurements that ran out of time are still unanswered: others would wait behind them. */
  #isLate = false
  readonly #stop: () => void

  constructor(sources: ViewSources) {
    this.#sources = sources
    const ends = sources.measurements?.onChange((serviceIds) => this.#mark(serviceIds))
    this.#stop = ends ?? (() => {})
  }

  /** The view of a page if it is current; else it has to be read. */
  current(address: PageAddress): PageView | undefined {
    const kept = this.#kept.get(nameOf(address))
    return kept !== undefined && this.#isCurrent(kept) ? kept.view : undefined
  }

  /** The current view of a page; `undefined` when no such page is public. Rejects when the store cannot be read. */
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
    for (const kept of this.#kept.values()) {
      const { sections } = kept.view.page
      kept.isMarked ||= sections.some(({ components }) =>
        components.some(({ serviceId }) => serviceIds.has(serviceId)),
      )
    }
  }

  #isCurrent(kept: Kept): boolean {
    const nowMs = this.#sources.monotonicMs()
    if (nowMs - kept.checkedAtMs < RENEW_MS) return true
    if (kept.isMarked || nowMs - kept.readAtMs >= QUIET_MS) return false
    if (this.#sources.nowMs() >= kept.windowAtMs) return false
    if (kept.changeCount !== this.#sources.store.changeCount()) return false
    kept.checkedAtMs = nowMs
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
    const before = this.#kept.get(name)
    this.#kept.delete(name)
    if (page === undefined) {
      this.#unknown.add(name)
      return undefined
    }
    const measured = await this.#measure(page, before)
    const shown = await readPublicPage(store, page, measured.measured, nowMs())
    const { oldestMonth, oldestAtMs } = await this.#oldest(page, before)
    const view = { page, shown, oldestMonth }
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= VIEWS_MAX && oldest !== undefined) this.#kept.delete(oldest)
    const readAtMs = monotonicMs()
    const times = {
      oldestAtMs,
      windowAtMs: nextWindowMs(shown),
      changeCount,
      readAtMs,
      checkedAtMs: readAtMs,
    }
    this.#kept.set(name, { view, ...measured, ...times, isMarked: false })
    return view
  }

  async #oldest(page: StatusPage, before: Kept | undefined) {
    const { store, monotonicMs } = this.#sources
    const nowMs = monotonicMs()
    if (before !== undefined && isSame(before.view.page, page) && nowMs - before.oldestAtMs < PAST_MS) {
      return { oldestMonth: before.view.oldestMonth, oldestAtMs: before.oldestAtMs }
    }
    const first = (await store.oldestPageIncident(page)) ?? page.createdAt
    const oldest = first < page.createdAt ? first : page.createdAt
    return { oldestMonth: oldest.slice(0, 7), oldestAtMs: nowMs }
  }

  async #measure(page: StatusPage, before: Kept | undefined): Promise<Measured> {
    const { measurements, monotonicMs } = this.#sources
    if (measurements === undefined) return NOTHING
    const measuredAtMs = monotonicMs()
    try {
      return await this.#inTime(() => this.#measured(measurements, page, before))
    } catch (error) {
      if (!(error instanceof ResultsBusyError)) throw error
      // The results thread starts again within seconds.
      return before !== undefined && measuredAtMs - before.measuredAtMs < BUSY_MS ? before : NOTHING
    }
  }

  /** Rejects with ResultsBusyError after `measureMsMax`, and at once until the measurements that took longer have come. */
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
        reject(new ResultsBusyError('the results thread did not answer in time'))
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
    before: Kept | undefined,
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

/** Whether nothing was changed: another page may have the address by now. */
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
