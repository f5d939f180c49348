/** Initial capacity of a heap, which doubles when it is full. */
const CAPACITY_FIRST = 64
/** Stands for a handle that is not in the heap. */
const ABSENT = -1

/**
 * Handles (small integers) ordered by due time. The heap is indexed, so a handle is moved or removed without a search.
 * Typed arrays take 16 bytes for each handle, and 100,000 handles are inserted in some milliseconds.
 */
export class DueHeap {
  #due = new Float64Array(CAPACITY_FIRST)
  /** Handles in heap order: each is due no later than its two children. */
  #order = new Int32Array(CAPACITY_FIRST)
  /** Position of each handle in `#order`. */
  #place = new Int32Array(CAPACITY_FIRST).fill(ABSENT)
  #size = 0

  /** The handle that is due next; `undefined` when there is none. */
  get next(): number | undefined {
    return this.#size === 0 ? undefined : this.#order[0]
  }

  /** Due time of `handle`, which must be in the heap (milliseconds). */
  dueMs(handle: number): number {
    return this.#due[handle] ?? Number.POSITIVE_INFINITY
  }

  /** Inserts `handle` at `dueMs`, or moves it there. */
  set(handle: number, dueMs: number): void {
    this.#makeRoom(handle)
    this.#due[handle] = dueMs
    let place = this.#place[handle] ?? ABSENT
    if (place === ABSENT) {
      place = this.#size
      this.#size += 1
      this.#put(handle, place)
    }
    this.#sink(this.#rise(place))
  }

  /** Removes `handle`, if it is in the heap. */
  remove(handle: number): void {
    const place = this.#place[handle] ?? ABSENT
    if (place === ABSENT) return
    this.#place[handle] = ABSENT
    this.#size -= 1
    if (place === this.#size) return
    this.#put(this.#handleAt(this.#size), place)
    this.#sink(this.#rise(place))
  }

  #rise(from: number): number {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#isSooner(place, parent)) break
      this.#swap(place, parent)
      place = parent
    }
    return place
  }

  #sink(from: number): void {
    let place = from
    for (;;) {
      const left = 2 * place + 1
      if (left >= this.#size) return
      const right = left + 1
      const sooner = right < this.#size && this.#isSooner(right, left) ? right : left
      if (!this.#isSooner(sooner, place)) return
      this.#swap(sooner, place)
      place = sooner
    }
  }

  #isSooner(place: number, other: number): boolean {
    return this.dueMs(this.#handleAt(place)) < this.dueMs(this.#handleAt(other))
  }

  #swap(place: number, other: number): void {
    const handle = this.#handleAt(place)
    this.#put(this.#handleAt(other), place)
    this.#put(handle, other)
  }

  #handleAt(place: number): number {
    return this.#order[place] ?? ABSENT
  }

  #put(handle: number, place: number): void {
    this.#order[place] = handle
    this.#place[handle] = place
  }

  #makeRoom(handle: number): void {
    const needed = Math.max(handle, this.#size) + 1
    if (needed <= this.#due.length) return
    const capacity = Math.max(needed, 2 * this.#due.length)
    const due = new Float64Array(capacity)
    const order = new Int32Array(capacity)
    const place = new Int32Array(capacity).fill(ABSENT)
    due.set(this.#due)
    order.set(this.#order)
    place.set(this.#place)
    this.#due = due
    this.#order = order
    this.#place = place
  }
}
