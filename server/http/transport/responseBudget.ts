import type { ServerResponse } from 'node:http'
import { ApiError } from '../../../api/contract/apiError.ts'
import { FairQueue, type Lane } from './fairQueue.ts'

const KIB = 1_024
const MIB = 1_024 * KIB

/**
 * Maximum size of a response that is written without reserving memory (bytes), because a reading client receives it
 * immediately.
 */
export const SMALL_RESPONSE_BYTES_MAX = 64 * KIB

/** Memory bounds for all responses in progress. Gap G35. */
export interface ResponseBounds {
  /** Maximum memory of all responses, and of those of one organisation (bytes), without small responses. */
  readonly bytesMax: number
  readonly orgBytesMax: number
  /** Maximum memory of small unread responses (bytes). */
  readonly smallBytesMax: number
  /** Maximum number of queued responses of one organisation, and their maximum wait (milliseconds). */
  readonly waitingMax: number
  readonly waitMs: number
  /** Time limit of a response while others wait for its memory (milliseconds), plus `mibMs` for each MiB of it. */
  readonly graceMs: number
  readonly mibMs: number
  /** The text of the refusal when no memory is free. */
  readonly refusal: string
}

/** Minimum interval between searches for responses that take too long (milliseconds). */
const INSPECTION_MS_MIN = 50

/** Half of the smallest supported heap; the rest is for request bodies and the program itself. */
export const RESPONSE_BOUNDS: ResponseBounds = {
  bytesMax: 48 * MIB,
  orgBytesMax: 16 * MIB,
  smallBytesMax: 16 * MIB,
  waitingMax: 100,
  waitMs: 30_000,
  graceMs: 8_000,
  mibMs: 1_000,
  refusal: 'too many long responses are under way',
}

/** Memory reserved for one response. */
export interface MemoryReservation {
  /** Resizes the reservation to `bytes`; `false`, without change, when there is not enough. */
  readonly resize: (bytes: number) => boolean
  /** Calls `cut` once when others wait and the response takes too long. */
  readonly cutWith: (cut: () => void) => void
  /** Releases the memory. A second call does nothing. */
  readonly release: () => void
}

interface Holder extends Lane {
  bytes: number
  readonly sinceMs: number
  cut: () => void
}

interface Waiting extends Lane {
  readonly bytes: number
  readonly grant: () => void
}

/**
 * Limits the bytes of all responses in progress, across routes and organisations. A response beyond the limit waits.
 * The queue is fair between organisations, and no organisation exceeds its share.
 */
export class ResponseBudget {
  readonly #bounds: ResponseBounds
  readonly #holders = new Set<Holder>()
  readonly #waiting = new FairQueue<Waiting>()
  /** Small responses not read immediately, the oldest first, with their bytes. */
  readonly #small = new Map<ServerResponse, number>()
  readonly #held = { bytes: 0, smallBytes: 0, mostBytes: 0 }
  readonly #heldByOrg = new Map<string, number>()
  #inspection: NodeJS.Timeout | undefined

  constructor(bounds: ResponseBounds) {
    this.#bounds = bounds
  }

  /** Bytes held now, including small responses. */
  get heldBytes(): number {
    return this.#held.bytes + this.#held.smallBytes
  }

  /** Maximum number of bytes held so far. */
  get mostHeldBytes(): number {
    return this.#held.mostBytes
  }

  /** Reserves memory for a response of `bytes`; `undefined` when there is none, or when others wait for it. */
  tryTake(lane: Lane, bytes: number): MemoryReservation | undefined {
    const isFree = this.#waiting.isEmpty && this.#fitsOrg(lane.orgId, bytes) && this.#fitsAll(bytes)
    return isFree ? this.#hold(lane, bytes) : undefined
  }

  /**
   * Reserves memory for a response of `wanted` bytes, immediately or when it is the turn of `lane`. Rejects with
   * `rate_limited` when too many responses wait already, or when this one has waited too long.
   */
  async take(lane: Lane, wanted: number): Promise<MemoryReservation> {
    const bytes = Math.min(wanted, this.#bounds.orgBytesMax)
    const free = this.tryTake(lane, bytes)
    if (free !== undefined) return free
    if (this.#waiting.count(lane.orgId) >= this.#bounds.waitingMax) throw this.#refusal()
    return await new Promise<MemoryReservation>((resolve, reject) => {
      const entry: Waiting = {
        ...lane,
        bytes,
        grant: () => {
          clearTimeout(timeout)
          resolve(this.#hold(lane, bytes))
        },
      }
      const timeout = setTimeout(() => {
        this.#waiting.remove(entry)
        this.#grant()
        reject(this.#refusal())
      }, this.#bounds.waitMs)
      this.#waiting.add(entry)
      this.#grant()
      this.#inspectLater()
    })
  }

  /**
   * Counts a small response that was written but not read immediately; call `release` when it is read. When there are
   * too many, closes the connection of the oldest, whose client has not read for the longest time.
   */
  keepSmall(response: ServerResponse, bytes: number): { readonly release: () => void } {
    for (const [oldest, oldestBytes] of this.#small) {
      if (this.#held.smallBytes + bytes <= this.#bounds.smallBytesMax) break
      this.#forgetSmall(oldest, oldestBytes)
      oldest.req.socket.destroy()
    }
    this.#small.set(response, bytes)
    this.#held.smallBytes += bytes
    this.#noteMost()
    return { release: () => this.#forgetSmall(response, bytes) }
  }

  #forgetSmall(response: ServerResponse, bytes: number): void {
    if (this.#small.delete(response)) this.#held.smallBytes -= bytes
  }

  #refusal(): ApiError {
    return new ApiError('rate_limited', this.#bounds.refusal)
  }

  #fitsOrg(orgId: string, bytes: number): boolean {
    return (this.#heldByOrg.get(orgId) ?? 0) + bytes <= this.#bounds.orgBytesMax
  }

  #fitsAll(bytes: number): boolean {
    return this.#held.bytes + bytes <= this.#bounds.bytesMax
  }

  #hold(lane: Lane, bytes: number): MemoryReservation {
    const holder: Holder = { ...lane, bytes, sinceMs: performance.now(), cut: () => {} }
    this.#holders.add(holder)
    this.#count(holder, bytes)
    return {
      resize: (wanted) => {
        const change = wanted - holder.bytes
        if (change > 0 && !(this.#fitsOrg(lane.orgId, change) && this.#fitsAll(change))) return false
        holder.bytes = wanted
        this.#count(holder, change)
        if (change < 0) this.#grant()
        return true
      },
      cutWith: (cut) => {
        holder.cut = cut
      },
      release: () => {
        if (!this.#holders.delete(holder)) return
        this.#count(holder, -holder.bytes)
        this.#grant()
      },
    }
  }

  #count({ orgId }: Lane, change: number): void {
    this.#held.bytes += change
    const ofOrg = (this.#heldByOrg.get(orgId) ?? 0) + change
    if (ofOrg === 0) this.#heldByOrg.delete(orgId)
    else this.#heldByOrg.set(orgId, ofOrg)
    this.#noteMost()
  }

  #noteMost(): void {
    this.#held.mostBytes = Math.max(this.#held.mostBytes, this.heldBytes)
  }

  #grant(): void {
    for (;;) {
      // Responses blocked by their organisation's share do not block others. While the first response waits for memory,
      // all others wait behind it: otherwise short responses would take the memory from a long one forever.
      const first = this.#waiting.first(({ orgId, bytes }) => this.#fitsOrg(orgId, bytes))
      if (first === undefined || !this.#fitsAll(first.bytes)) return
      this.#waiting.remove(first)
      first.grant()
    }
  }

  /** While responses wait, looks for responses that hold memory and take too long. */
  #inspectLater(): void {
    if (this.#waiting.isEmpty || this.#inspection !== undefined) return
    const { graceMs, mibMs } = this.#bounds
    const endOf = ({ sinceMs, bytes }: Holder) => sinceMs + graceMs + (bytes / MIB) * mibMs
    const earliestMs = Math.min(...[...this.#holders].map(endOf))
    const inspect = (): void => {
      this.#inspection = undefined
      if (this.#waiting.isEmpty) return
      for (const holder of [...this.#holders]) {
        if (endOf(holder) <= performance.now()) holder.cut()
      }
      this.#inspectLater()
    }
    this.#inspection = setTimeout(
      inspect,
      Math.max(INSPECTION_MS_MIN, earliestMs - performance.now()),
    ).unref()
  }
}
