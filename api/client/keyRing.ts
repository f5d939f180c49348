import type { Org } from '../contract/org.ts'
import type { BucketRate } from '../contract/tokenBucket.ts'
import { type Lane, Limiter, type Timing } from './limiter.ts'

/** One API key and its limiter. */
export interface RingKey {
  readonly apiKey: string
  readonly limiter: Limiter
}

/**
 * The API keys of one client. The server limits each key, so each has its own limiter, and a request uses the key that
 * can send it soonest. Contract: Limits, rule 1.
 */
export class KeyRing {
  readonly keys: readonly RingKey[]

  /** `limiter` is that of the first key; the others get new ones of `rate`. */
  constructor(apiKeys: readonly string[], limiter: Limiter | undefined, timing: Timing, rate?: BucketRate) {
    this.keys = apiKeys.map((apiKey, index) => ({
      apiKey,
      limiter: index === 0 && limiter !== undefined ? limiter : new Limiter(rate, timing),
    }))
  }

  /** Resolves to the key of the next request when it may be sent; `only` restricts the choice to one key. */
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

/** The keys of one client belong to different organisations. */
export class KeysOfDifferentOrgs extends Error {
  override readonly name = 'KeysOfDifferentOrgs'

  constructor(one: Org, other: Org) {
    super(
      `the API keys belong to different organisations: "${one.name}" (${one.id}) and "${other.name}" (${other.id})`,
    )
  }
}

/** The common organisation of several keys; the scope is read_only if one key is. Throws KeysOfDifferentOrgs. Pure. */
export function agreedOrg(orgs: readonly Org[]): Org {
  const [first, ...others] = orgs
  if (first === undefined) throw new Error('a client without an API key')
  const other = others.find(({ id }) => id !== first.id)
  if (other !== undefined) throw new KeysOfDifferentOrgs(first, other)
  return others.find(({ scope }) => scope === 'read_only') ?? first
}
