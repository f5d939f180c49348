import { DueHeap } from './dueHeap.ts'
import { type Grid, slotAfter, slotKey, slotUpTo } from './grid.ts'

/** Time over which first checks are spread (milliseconds). */
const FIRST_SPREAD_MS = 1_000
/** Maximum delay with which a missed slot still runs (milliseconds), or half an interval when that is less. */
const LATE_MS_MAX = 30_000

/**
 * How far the server's clock may be set back without repeating a slot (milliseconds). After a larger step, as from a
 * wrong time zone or date, checks would wait for hours or years.
 */
const SET_BACK_MS_MAX = 15 * 60 * 1_000

/** A check to start now. */
export interface Slot {
  readonly series: number
  /** Due time on the server's clock (milliseconds since the epoch). */
  readonly dueMs: number
  /** Delay after the due time (milliseconds). */
  readonly lateMs: number
}

interface Scheduled {
  readonly series: number
  readonly handle: number
  grid: Grid
  /** Due time of the newest slot that ran (whole seconds since the epoch). No slot up to it runs again. */
  lastS: number
  /** Whether the next slot is a first check, which is not on the grid. */
  isFirst: boolean
}

/**
 * Decides when each series is checked. All instants are on the server's clock and passed in: a schedule has no clock or
 * timer.
 *
 * The next slot of a due series is set before its check runs, so that a slow check does not shift later ones.
 */
export class Schedule {
  readonly #heap = new DueHeap()
  readonly #bySeries = new Map<number, Scheduled>()
  readonly #byHandle: (Scheduled | undefined)[] = []
  readonly #freeHandles: number[] = []
  #skipped = 0

  /** Number of scheduled series. */
  get size(): number {
    return this.#bySeries.size
  }

  /** Number of slots skipped so far because they were noticed too late. */
  get skipped(): number {
    return this.#skipped
  }

  /** Due time of the next slot (milliseconds since the epoch); `undefined` when nothing is scheduled. */
  get nextDueMs(): number | undefined {
    const handle = this.#heap.next
    return handle === undefined ? undefined : this.#heap.dueMs(handle)
  }

  /**
   * Schedules `series` on `grid`. A series that is already scheduled keeps its next slot unless its grid changed. For a
   * new series, `isFirst` requests a check within a second, before those of the grid.
   */
  start(series: number, grid: Grid, { nowMs, isFirst }: { nowMs: number; isFirst: boolean }): void {
    const known = this.#bySeries.get(series)
    if (known !== undefined) {
      if (known.grid.phaseMs === grid.phaseMs && known.grid.intervalMs === grid.intervalMs) return
      known.grid = grid
      if (!known.isFirst) this.#setNext(known, nowMs)
      return
    }
    const handle = this.#freeHandles.pop() ?? this.#byHandle.length
    const scheduled = { series, handle, grid, lastS: Number.NEGATIVE_INFINITY, isFirst }
    this.#bySeries.set(series, scheduled)
    this.#byHandle[handle] = scheduled
    if (isFirst) this.#heap.set(handle, nowMs + (grid.phaseMs % FIRST_SPREAD_MS))
    else this.#setNext(scheduled, nowMs)
  }

  /** Removes `series`, if it is scheduled. */
  end(series: number): void {
    const scheduled = this.#bySeries.get(series)
    if (scheduled === undefined) return
    this.#bySeries.delete(series)
    this.#byHandle[scheduled.handle] = undefined
    this.#heap.remove(scheduled.handle)
    this.#freeHandles.push(scheduled.handle)
  }

  /** Continues at `nowMs` with the series that would wait because the clock was set back by more than SET_BACK_MS_MAX. */
  followClock(nowMs: number): void {
    for (const scheduled of this.#bySeries.values()) {
      const { handle, grid, isFirst } = scheduled
      if (this.#heap.dueMs(handle) <= nowMs + grid.intervalMs + SET_BACK_MS_MAX) continue
      scheduled.lastS = Number.NEGATIVE_INFINITY
      if (isFirst) this.#heap.set(handle, nowMs + (grid.phaseMs % FIRST_SPREAD_MS))
      else this.#setNext(scheduled, nowMs)
    }
  }

  /**
   * Returns up to `countMax` slots that are due at `nowMs`, oldest first, and sets each series to its next slot. Of
   * missed slots only the newest is returned, and only when it is not too late.
   */
  take(nowMs: number, countMax: number): readonly Slot[] {
    const slots: Slot[] = []
    while (slots.length < countMax) {
      const handle = this.#heap.next
      if (handle === undefined || this.#heap.dueMs(handle) > nowMs) break
      // True because every handle in the heap has its series.
      const scheduled = this.#byHandle[handle] as Scheduled
      const slot = this.#takeOne(scheduled, nowMs)
      if (slot !== undefined) slots.push(slot)
    }
    return slots
  }

  #takeOne(scheduled: Scheduled, nowMs: number): Slot | undefined {
    const { series, grid, isFirst } = scheduled
    const waitedForMs = this.#heap.dueMs(scheduled.handle)
    scheduled.isFirst = false
    if (isFirst) {
      scheduled.lastS = slotKey(waitedForMs)
      // A grid slot right after a first check would add no information.
      this.#setNext(scheduled, Math.max(nowMs, waitedForMs + grid.intervalMs / 4))
      return { series, dueMs: waitedForMs, lateMs: nowMs - waitedForMs }
    }
    const dueMs = slotUpTo(grid, nowMs)
    this.#skipped += Math.max(0, Math.round((dueMs - waitedForMs) / grid.intervalMs))
    const lateMs = nowMs - dueMs
    const isTooLate = lateMs > Math.min(grid.intervalMs / 2, LATE_MS_MAX)
    if (isTooLate) this.#skipped += 1
    else scheduled.lastS = slotKey(dueMs)
    this.#setNext(scheduled, nowMs)
    return isTooLate ? undefined : { series, dueMs, lateMs }
  }

  #setNext(scheduled: Scheduled, afterMs: number): void {
    let dueMs = slotAfter(scheduled.grid, afterMs)
    // The clock was set back, or a first check used the same second.
    if (slotKey(dueMs) <= scheduled.lastS) {
      dueMs = slotAfter(scheduled.grid, (scheduled.lastS + 1) * 1_000 - 1)
    }
    this.#heap.set(scheduled.handle, dueMs)
  }
}
