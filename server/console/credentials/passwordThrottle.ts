import {
  type Bucket,
  type BucketRate,
  fullBucket,
  refill,
  spendToken,
  waitForTokenMs,
} from '../../../api/contract/tokenBucket.ts'

const MINUTE_MS = 60_000

/** Wrong passwords from one address, which a whole office may share. */
const ADDRESS_RATE: BucketRate = { burstRequests: 20, refillIntervalMs: 3 * MINUTE_MS }
/** Wrong passwords for one account, and from one known browser. */
const ACCOUNT_RATE: BucketRate = { burstRequests: 10, refillIntervalMs: MINUTE_MS }
/** Characters of an e-mail address that name its bucket: a form can contain 64 KiB of text instead. */
const EMAIL_CHARS = 254
/**
 * Maximum number of buckets in memory. Beyond it, full buckets, which carry no information, and then the oldest are
 * dropped.
 */
const BUCKETS_KEPT = 100_000

/** The source of an attempt. */
export type Attempt =
  | { readonly kind: 'stranger'; readonly network: string; readonly email: string }
  /** A browser that signed in to this account before. Strangers cannot use up its attempts. */
  | { readonly kind: 'device'; readonly device: string }
  /** A person with a session. */
  | { readonly kind: 'person'; readonly personId: string }

/** The result of an attempt; a refused one was not checked. */
export type AttemptResult =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'refused'; readonly waitS: number }

/** Limits wrong passwords, in memory, by a monotonic clock (milliseconds). No account is ever locked. */
export class PasswordThrottle {
  readonly #monotonicMs: () => number
  readonly #buckets = new Map<string, Bucket>()

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Runs `check` unless there were too many wrong passwords. A correct password costs nothing. */
  async attempt(attempt: Attempt, check: () => Promise<boolean>): Promise<AttemptResult> {
    const limits = limitsOf(attempt)
    const waitMs = Math.max(...limits.map(({ name, rate }) => this.#waitMs(name, rate)))
    if (waitMs > 0) return { kind: 'refused', waitS: Math.ceil(waitMs / 1_000) }
    // Before the check, so that concurrent attempts count too.
    for (const { name, rate } of limits) this.#add(name, rate, -1)
    // A check that throws says nothing about the password.
    let isWrong = false
    try {
      isWrong = !(await check())
    } finally {
      if (!isWrong) for (const { name, rate } of limits) this.#add(name, rate, 1)
    }
    return { kind: isWrong ? 'wrong' : 'right' }
  }

  #bucket(name: string, rate: BucketRate): Bucket {
    const nowMs = this.#monotonicMs()
    return refill(this.#buckets.get(name) ?? fullBucket(nowMs, rate), nowMs, rate)
  }

  #waitMs(name: string, rate: BucketRate): number {
    return waitForTokenMs(this.#bucket(name, rate), this.#monotonicMs(), rate)
  }

  #add(name: string, rate: BucketRate, change: 1 | -1): void {
    const bucket = this.#bucket(name, rate)
    if (change === -1) {
      this.#keep(name, spendToken(bucket, this.#monotonicMs(), rate).bucket)
      return
    }
    this.#keep(name, { ...bucket, tokens: Math.min(rate.burstRequests, bucket.tokens + 1) })
  }

  #keep(name: string, bucket: Bucket): void {
    if (this.#buckets.size >= BUCKETS_KEPT && !this.#buckets.has(name)) this.#makeRoom()
    this.#buckets.set(name, bucket)
  }

  #makeRoom(): void {
    for (const name of this.#buckets.keys()) {
      const rate = name.startsWith('address') ? ADDRESS_RATE : ACCOUNT_RATE
      if (this.#bucket(name, rate).tokens === rate.burstRequests) this.#buckets.delete(name)
    }
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size >= BUCKETS_KEPT && oldest !== undefined) this.#buckets.delete(oldest)
  }
}

function limitsOf(attempt: Attempt): readonly { readonly name: string; readonly rate: BucketRate }[] {
  switch (attempt.kind) {
    case 'stranger':
      return [
        { name: `address ${attempt.network}`, rate: ADDRESS_RATE },
        { name: `account ${attempt.email.slice(0, EMAIL_CHARS)}`, rate: ACCOUNT_RATE },
      ]
    case 'device':
      return [{ name: `device ${attempt.device}`, rate: ACCOUNT_RATE }]
    case 'person':
      return [{ name: `person ${attempt.personId}`, rate: ACCOUNT_RATE }]
  }
}
