/** Places that an empty heap has room for; it doubles when they are taken. */
const ROOM_FIRST = 64
/** Stands for a handle that is not in the heap. */
const ABSENT = -1

/**
 * Handles (small whole numbers) ordered by the instant at which each is due. Indexed: a handle is moved or removed
 * without a search. Typed arrays take 16 bytes a handle, and 100,000 of them are built in some milliseconds.
 */
export class DueHeap {
  #due = new Float64Array(ROOM_FIRST)
  /** Handles, the soonest first, each in front of its two children. */
  #order = new Int32Array(ROOM_FIRST)
  /** Where in `#order` each handle is. */
  #place = new Int32Array(ROOM_FIRST).fill(ABSENT)
  #size = 0

  /** The handle that is due next; `undefined` when there is none. */
  get next(): number | undefined {
    return this.#size === 0 ? undefined : this.#order[0]
  }

  /** When `handle`, which has to be in the heap, is due (milliseconds). */
  dueMs(handle: number): number {
    return this.#due[handle] ?? Number.POSITIVE_INFINITY
  }

  /** Puts `handle` at `dueMs`, wherever it was before. */
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

  /** Takes `handle` out; nothing happens when it is not in. */
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
    const room = Math.max(needed, 2 * this.#due.length)
    const due = new Float64Array(room)
    const order = new Int32Array(room)
    const place = new Int32Array(room).fill(ABSENT)
    due.set(this.#due)
    order.set(this.#order)
    place.set(this.#place)
    this.#due = due
    this.#order = order
    this.#place = place
  }
}
