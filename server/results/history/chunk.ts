import { mergeResults, type StoredResult } from './storedResult.ts'

/** First byte of a chunk: the version of its format. */
const VERSION = 1
/** Initial size of a buffer: a result takes about 16 bytes. */
const FIRST_BYTES = 128
/** Largest size of a result: 17 numbers of at most 8 bytes, and the version. */
const RESULT_BYTES_MAX = 17 * 8 + 1
/** Below this bit operations on 32-bit integers are exact. */
const INT_MAX = 2 ** 31

/**
 * Packs the results of one series, ordered by due time. A result begins with the varint `2 × seconds since the previous
 * result + same`. `same` is 1 when the fields of FINDINGS equal those of the previous result; otherwise they follow.
 * Then come the lateness and the six phases.
 */
export class ChunkWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 1
  #last: StoredResult | undefined
  #older: StoredResult[] = []

  constructor(results: readonly StoredResult[] = []) {
    this.#bytes[0] = VERSION
    for (const result of results) this.#append(result)
  }

  /** The chunk so far; valid until the next `add`. */
  get bytes(): Buffer {
    this.#mergeOlder()
    return this.#bytes.subarray(0, this.#length)
  }

  /** Adds a result in order. Changes nothing when there is a result with the same due time. */
  add(result: StoredResult): void {
    if (this.#last === undefined || result.dueS > this.#last.dueS) this.#append(result)
    else this.#older.push(result)
  }

  /** After an outage, agents send many older results: they are merged together when the chunk is read. */
  #mergeOlder(): void {
    if (this.#older.length === 0) return
    const packed = decodeChunk(this.#bytes.subarray(0, this.#length))
    const merged = new ChunkWriter(mergeResults(packed, this.#older))
    this.#bytes = merged.#bytes
    this.#length = merged.#length
    this.#older = []
  }

  #append(result: StoredResult): void {
    this.#makeRoom()
    const last = this.#last
    const isSame = last !== undefined && hasSameFindings(last, result)
    this.#put(2 * (result.dueS - (last?.dueS ?? 0)) + Number(isSame))
    if (!isSame) for (const field of FINDINGS) this.#put(result[field])
    this.#put(result.lateMs)
    this.#put(result.totalUs)
    this.#put(result.dnsUs)
    this.#put(result.connectUs)
    this.#put(result.tlsUs)
    this.#put(result.waitUs)
    this.#put(result.bodyUs)
    this.#last = result
  }

  #makeRoom(): void {
    if (this.#length + RESULT_BYTES_MAX <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + RESULT_BYTES_MAX)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  #put(value: number): void {
    let left = value
    while (left >= INT_MAX) {
      this.#bytes[this.#length++] = (left % 128) + 128
      left = Math.floor(left / 128)
    }
    while (left >= 128) {
      this.#bytes[this.#length++] = (left & 127) | 128
      left >>>= 7
    }
    this.#bytes[this.#length++] = left
  }
}

const FINDINGS = [
  'generation',
  'outcome',
  'reason',
  'status',
  'attempts',
  'flags',
  'failed',
  'firstReason',
  'firstTotalUs',
] as const

/** Compares the fields of FINDINGS one by one: a loop over their names takes ten times as long. */
function hasSameFindings(a: StoredResult, b: StoredResult): boolean {
  return (
    a.generation === b.generation &&
    a.outcome === b.outcome &&
    a.reason === b.reason &&
    a.status === b.status &&
    a.attempts === b.attempts &&
    a.flags === b.flags &&
    a.failed === b.failed &&
    a.firstReason === b.firstReason &&
    a.firstTotalUs === b.firstTotalUs
  )
}

/** The results of a chunk, ordered by due time. Pure. Throws on another format and on a truncated chunk. */
export function decodeChunk(bytes: Uint8Array): readonly StoredResult[] {
  if (bytes[0] !== VERSION)
    throw new Error(`results are in format ${bytes[0]}, which this release cannot read`)
  let at = 1
  const next = (): number => {
    const first = bytes[at++]
    if (first !== undefined && first < 128) return first
    let value = (first ?? 0) & 127
    let factor = 128
    for (;;) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('a chunk of results is truncated')
      value += (byte & 127) * factor
      if (byte < 128) return value
      factor *= 128
    }
  }
  const results: StoredResult[] = []
  let last: StoredResult | undefined
  while (at < bytes.length) {
    const head = next()
    const dueS = (last?.dueS ?? 0) + Math.floor(head / 2)
    const findings: Findings = head % 2 === 1 && last !== undefined ? last : readFindings(next)
    // One literal: spreads take several times as long, and this runs for every result.
    last = {
      dueS,
      generation: findings.generation,
      outcome: findings.outcome,
      reason: findings.reason,
      status: findings.status,
      attempts: findings.attempts,
      flags: findings.flags,
      lateMs: next(),
      totalUs: next(),
      dnsUs: next(),
      connectUs: next(),
      tlsUs: next(),
      waitUs: next(),
      bodyUs: next(),
      failed: findings.failed,
      firstReason: findings.firstReason,
      firstTotalUs: findings.firstTotalUs,
    }
    results.push(last)
  }
  return results
}

type Findings = Pick<StoredResult, (typeof FINDINGS)[number]>

/** Reads the fields of FINDINGS, in their order. */
function readFindings(next: () => number): Findings {
  return {
    generation: next(),
    outcome: next(),
    reason: next(),
    status: next(),
    attempts: next(),
    flags: next(),
    failed: next(),
    firstReason: next(),
    firstTotalUs: next(),
  }
}
