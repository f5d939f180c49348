/** Longest work of one slice (milliseconds): ingest waits for no slice longer than 20 ms, commit included. */
const SLICE_MS = 8

/** A part of the background work that runs in a transaction of the caller. */
export type Slice = () => void
/** Slices in their order. What a generator does behind a slice happens only when that slice was committed. */
export type Slices = Generator<Slice, void>

/** Does `work` for each of `items`, in slices that end when their time on the clock `nowMs` is over. */
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
