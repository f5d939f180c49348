/** Longest work of one slice (milliseconds): with its commit, a slice delays ingest by at most 20 ms. */
const SLICE_MS = 8

/** A part of the background work; runs in the caller's transaction. */
export type Slice = () => void
/** Slices in order. The generator continues only after the slice was committed. */
export type Slices = Generator<Slice, void>

/** Runs `work` for each of `items`, in slices of at most SLICE_MS on the clock `nowMs`. */
export function* inSlices<Item>(
  items: Iterable<Item>,
  nowMs: () => number,
  work: (item: Item) => void,
): Slices {
  const iterator = items[Symbol.iterator]()
  let next = iterator.next()
  while (next.done !== true) {
    yield () => {
      const untilMs = nowMs() + SLICE_MS
      do {
        if (next.done === true) return
        work(next.value)
        next = iterator.next()
      } while (nowMs() < untilMs)
    }
  }
}

/** Repeats `work`, which returns how many rows it changed, until it changes fewer than `rowsMax`. */
export function* whileFull(rowsMax: number, work: () => number): Slices {
  let changed = rowsMax
  while (changed >= rowsMax) {
    yield () => {
      changed = work()
    }
  }
}
