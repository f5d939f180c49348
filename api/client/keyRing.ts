import { type Lane, Limiter, type Timing } from './limiter.ts'

/** One API key, and the limiter of what it may spend. */
export interface RingKey {
  readonly apiKey: string
  readonly limiter: Limiter
}

/**
 * The API keys of one client. The server counts per key, so that each has a limiter of its own, and a request
 * leaves with the key that can send it soonest. Contract: Limits, rule 1.
 */
export class KeyRing {
  readonly keys: readonly RingKey[]

  /** `limiter` is that of the first key; the others get new ones. */
  constructor(apiKeys: readonly string[], limiter: Limiter | undefined, timing: Timing) {
    this.keys = apiKeys.map((apiKey, index) => ({
      apiKey,
      limiter: index === 0 && limiter !== undefined ? limiter : new Limiter(undefined, timing),
    }))
  }

  /** Resolves to the key of the next request when that may leave; `only` is the one key that it may leave with. */
  async pass(lane: Lane, signal: AbortSignal | undefined, only?: RingKey): Promise<RingKey> {
    const [first, ...others] = this.keys
    if (first === undefined) throw new Error('a client without an API key')
    const soonest = others.reduce(
      (best, key) => (key.limiter.expectedWaitMs < best.limiter.expectedWaitMs ? key : best),
      first,
    )
    const key = only ?? soonest
    await key.limiter.pass(lane, signal)
    return key
  }
}
