import { DueHeap } from './dueHeap.ts'
import { type Grid, slotAfter, slotKey, slotUpTo } from './grid.ts'

/** First checks start within this time, each at a moment of its own (milliseconds). */
const FIRST_SPREAD_MS = 1_000
/** A missed slot is made up for when it is late by at most this, and by at most half an interval (milliseconds). */
const LATE_MS_MAX = 30_000

/** A check that has to start now. */
export interface Slot {
  readonly series: number
  /** When it was due on the server's clock (milliseconds since the epoch). */
  readonly dueMs: number
  /** How much later it is started (milliseconds). */
  readonly lateMs: number
}

interface Scheduled {
  readonly series: number
  readonly handle: number
  grid: Grid
  /** The second of the newest slot that ran: none at or before it runs again. */
  lastS: number
  /** Whether what waits is a first check, off the grid. */
  isFirst: boolean
}

/**
 * When each series is checked. All instants are the server's clock, passed in: a schedule has no clock and no timer.
 *
 * A series that is due has its next slot set before its check runs, so that a slow check moves nothing.
 */
export class Schedule {
  readonly #heap = new DueHeap()
  readonly #bySeries = new Map<number, Scheduled>()
  readonly #byHandle: (Scheduled | undefined)[] = []
  readonly #freeHandles: number[] = []
  #skipped = 0

  /** How many series are scheduled. */
  get size(): number {
    return this.#bySeries.size
  }

  /** Slots that were left out so far, because they were noticed too late. */
  get skipped(): number {
    return this.#skipped
  }

  /** When the next slot is due (milliseconds since the epoch); `undefined` when nothing is scheduled. */
  get nextDueMs(): number | undefined {
    const handle = this.#heap.next
    return handle === undefined ? undefined : this.#heap.dueMs(handle)
  }

  /**
   * Schedules `series` on `grid`. A series that is scheduled keeps its next slot unless its grid is another one.
   * `isFirst` asks for a check within a second, for one that is not scheduled yet; its grid follows.
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

  /** Takes `series` out; nothing happens when it is not scheduled. */
  end(series: number): void {
    const scheduled = this.#bySeries.get(series)
    if (scheduled === undefined) return
    this.#bySeries.delete(series)
    this.#byHandle[scheduled.handle] = undefined
    this.#heap.remove(scheduled.handle)
    this.#freeHandles.push(scheduled.handle)
  }

  /**
   * What is due at `nowMs`, the longest due first, at most `countMax`: each is set to its next slot. Of slots that were
   * missed only the newest is given, and only when it is not too late.
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
      // A slot of the grid that would follow at once tells nothing new.
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
    // The clock was set back, or a first check took the same second.
    if (slotKey(dueMs) <= scheduled.lastS) {
      dueMs = slotAfter(scheduled.grid, (scheduled.lastS + 1) * 1_000 - 1)
    }
    this.#heap.set(scheduled.handle, dueMs)
  }
}
