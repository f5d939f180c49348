import { BATCH_RESULTS_MAX, PROTOCOL, type ResultRow, type ResultsRequest } from '../protocol/messages.ts'
import { OUTCOMES, REASONS } from '../protocol/outcomes.ts'
import type { CheckReport } from './checkReport.ts'
import type { Link } from './link.ts'

/** How long results gather before they are sent (milliseconds). */
const GATHER_MS = 200
/** Pauses before results that were not taken are sent again: the last one from then on (milliseconds). */
const SEND_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Share of a pause that chance takes away, so that agents do not come back all at once. */
const JITTER = 0.25
/** Results that wait at most; the oldest go first. About 30 MB. */
const WAITING_MAX = 100_000
const MICROSECONDS_MAX = 3_600_000_000
const LATE_MS_MAX = 3_600_000

/** A result on its way to the server. */
export interface PendingResult {
  readonly series: number
  readonly generation: number
  readonly store: string
  readonly dueS: number
  readonly lateMs: number
  readonly report: CheckReport
}

/** Results between checks and server: sent in batches, one at a time, and again until they are taken. */
export class ResultQueue {
  readonly #link: Link
  readonly #instance: string
  readonly #nowMs: () => number
  #waiting: PendingResult[] = []
  #batch = 0
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #dropped = 0

  constructor(link: Link, instance: string, nowMs: () => number) {
    this.#link = link
    this.#instance = instance
    this.#nowMs = nowMs
  }

  /** Results that were given up because there were too many. */
  get dropped(): number {
    return this.#dropped
  }

  /** Takes a result; it is sent soon. */
  push(result: PendingResult): void {
    this.#waiting.push(result)
    if (this.#waiting.length > WAITING_MAX) {
      this.#dropped += BATCH_RESULTS_MAX
      this.#waiting.splice(0, BATCH_RESULTS_MAX)
    }
    if (this.#failures === 0 && this.#waiting.length >= BATCH_RESULTS_MAX) this.#sendIn(0)
    else this.#sendIn(GATHER_MS)
  }

  /** Sends what waits, once; resolves when that was taken, or was not. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#sending
    while (this.#waiting.length > 0 && this.#failures === 0) {
      this.#sending = this.#sendBatch()
      await this.#sending
    }
    clearTimeout(this.#timer)
  }

  #sendIn(delayMs: number): void {
    if (this.#sending !== undefined || (this.#timer !== undefined && delayMs > 0)) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#sending = this.#sendBatch()
    }, delayMs)
  }

  async #sendBatch(): Promise<void> {
    // A batch is of one store: what is left of an earlier one is refused by itself.
    const store = this.#waiting[0]?.store ?? ''
    const taken = this.#waiting.slice(0, BATCH_RESULTS_MAX)
    const others = taken.findIndex((result) => result.store !== store)
    const batch = others === -1 ? taken : taken.slice(0, others)
    this.#batch += 1
    try {
      await this.#link.results(this.#request(store, batch))
      this.#failures = 0
      const sent = new Set(batch)
      this.#waiting = this.#waiting.filter((result) => !sent.has(result))
    } catch {
      this.#failures += 1
    }
    this.#sending = undefined
    if (this.#waiting.length > 0) this.#sendIn(this.#pauseMs())
  }

  #pauseMs(): number {
    if (this.#failures === 0) return this.#waiting.length >= BATCH_RESULTS_MAX ? 0 : GATHER_MS
    const pauseMs = SEND_AGAIN_MS[Math.min(this.#failures, SEND_AGAIN_MS.length) - 1] ?? 0
    return pauseMs * (1 - JITTER * Math.random())
  }

  #request(store: string, batch: readonly PendingResult[]): ResultsRequest {
    return {
      protocol: PROTOCOL,
      store,
      instance: this.#instance,
      batch: this.#batch,
      sent_ms: Math.round(this.#nowMs()),
      results: batch.map(rowOf),
      details: batch.flatMap(({ series, dueS, report }) =>
        report.detail === null ? [] : [{ series, due_s: dueS, ...report.detail }],
      ),
      certificates: batch.flatMap(({ series, report }) =>
        report.certificates.map((certificate) => ({ series, ...certificate })),
      ),
    }
  }
}

function rowOf({ series, generation, dueS, lateMs, report }: PendingResult): ResultRow {
  const { outcome, reason, status, attempts, flags, totalUs, dnsUs, connectUs, tlsUs, waitUs, bodyUs } =
    report
  const micros = (value: number) => Math.min(MICROSECONDS_MAX, Math.max(0, Math.round(value)))
  return [
    series,
    generation,
    dueS,
    Math.min(LATE_MS_MAX, Math.max(0, Math.round(lateMs))),
    OUTCOMES[outcome],
    REASONS[reason],
    status,
    attempts,
    flags,
    micros(totalUs),
    micros(dnsUs),
    micros(connectUs),
    micros(tlsUs),
    micros(waitUs),
    micros(bodyUs),
  ]
}
