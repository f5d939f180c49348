import { ApiError } from '../../api/contract/apiError.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentFigures.ts'
import { offerSession, type SessionOffer } from '../../monitoring/protocol/sessionSeal.ts'
import type { RegionPresence } from '../results/agentWatch.ts'
import type { AgentToken } from '../store/monitoringStore.ts'

/** An agent that neither asks nor reports for this long is lost (milliseconds): it asks every 25 s. */
export const LOST_MS = 45_000
/** One whose connection ended while it waited for an answer is lost when it neither asks again nor reports within this time (milliseconds). */
export const GONE_MS = 5_000
/** Within this time of its end, a connection may be followed by messages of a process that is dead (milliseconds). */
const LAST_MESSAGES_MS = 1_000
/** Most agents of one token at a time: replicas of one deployment. */
export const TOKEN_INSTANCES_MAX = 32

/** An agent as it introduces itself. */
export interface Introduction {
  readonly instance: string
  readonly token: AgentToken
  readonly publicKey: string
  readonly version: string
  readonly load: AgentLoad
}

/** An agent of a region. */
export interface Member extends Omit<Introduction, 'load'> {
  readonly session: { readonly offer: SessionOffer; readonly key: Buffer }
  seenMs: number
  /** How often it asked. */
  asks: number
  /** When its connection ended; `undefined` since it asked or reported again. */
  goneMs: number | undefined
  /** As of its last request. */
  load: AgentLoad
}

/** Which agents share each region. An agent counts for LOST_MS after its last request. */
export class Members {
  readonly #monotonicMs: () => number
  readonly #regions = new Map<string, Map<string, Member>>()
  readonly #epochs = new Map<string, number>()
  readonly #emptySinceMs = new Map<string, number>()
  #newestEpoch: number

  /** `firstEpoch` has to be above every epoch of an earlier start. */
  constructor(monotonicMs: () => number, firstEpoch: number) {
    this.#monotonicMs = monotonicMs
    this.#newestEpoch = firstEpoch
  }

  /** Instances of `region`, in an order that does not change. */
  instancesOf(region: string): readonly string[] {
    return [...this.#membersOf(region).keys()].toSorted()
  }

  /** All agents. */
  all(): readonly Member[] {
    return [...this.#regions.values()].flatMap((members) => [...members.values()])
  }

  /** Another number for each change of the agents of `region`. */
  epochOf(region: string): number {
    return this.#epochs.get(region) ?? this.renewEpoch(region)
  }

  /** Has every agent of `region` read the members anew. */
  renewEpoch(region: string): number {
    this.#newestEpoch += 1
    this.#epochs.set(region, this.#newestEpoch)
    return this.#newestEpoch
  }

  /**
   * The member that this agent is, new or known. Throws
   * `conflict` while another agent has the instance, and `forbidden` when the token has as many as it may.
   */
  join(introduction: Introduction): Member {
    const { instance, token, publicKey, load } = introduction
    const members = this.#membersOf(token.region)
    const known = members.get(instance)
    if (known !== undefined) {
      if (known.publicKey !== publicKey || known.token.id !== token.id) {
        throw new ApiError('conflict', `another agent has the instance ${instance}`)
      }
      known.seenMs = this.#monotonicMs()
      known.goneMs = undefined
      known.asks += 1
      known.load = load
      return known
    }
    const ofToken = [...members.values()].filter((member) => member.token.id === token.id).length
    if (ofToken >= TOKEN_INSTANCES_MAX) {
      throw new ApiError(
        'forbidden',
        `the token ${token.name} is used by ${TOKEN_INSTANCES_MAX} agents already`,
      )
    }
    const member = {
      ...introduction,
      session: openSession(publicKey),
      seenMs: this.#monotonicMs(),
      goneMs: undefined,
      asks: 1,
    }
    members.set(instance, member)
    this.renewEpoch(token.region)
    return member
  }

  /** The agent of `region`; `undefined` when it has not asked yet. */
  find(region: string, instance: string): Member | undefined {
    return this.#membersOf(region).get(instance)
  }

  /** Takes note that an agent of `region` reported; nothing happens when it has not asked yet. */
  see(region: string, instance: string): void {
    const member = this.find(region, instance)
    if (member === undefined) return
    const nowMs = this.#monotonicMs()
    member.seenMs = nowMs
    // It lives, and only the connection on which it asked was cut.
    if (member.goneMs !== undefined && nowMs - member.goneMs >= LAST_MESSAGES_MS) member.goneMs = undefined
  }

  /**
   * Takes note that the connection ended on which `member` asked for the `ask`-th time; nothing happens when it has asked
   * again. A process that was killed would otherwise have its part of the endpoints for as long as one that is only
   * slow, also when it was started again at once.
   */
  seeGone(member: Member, ask: number): void {
    if (member.asks === ask) member.goneMs = this.#monotonicMs()
  }

  /** Takes `member` out: it checks nothing any more. */
  leave(member: Member): void {
    if (!this.#membersOf(member.token.region).delete(member.instance)) return
    this.renewEpoch(member.token.region)
  }

  /** Takes all agents of a token out. */
  leaveAllOf(tokenId: string): void {
    for (const members of this.#regions.values()) {
      for (const member of members.values()) if (member.token.id === tokenId) this.leave(member)
    }
  }

  /** Takes out agents that were not seen for LOST_MS, or are gone for GONE_MS; whether there was any. */
  dropLost(): boolean {
    const nowMs = this.#monotonicMs()
    let hasLost = false
    for (const members of this.#regions.values()) {
      for (const member of members.values()) {
        const isGone = member.goneMs !== undefined && nowMs - member.goneMs >= GONE_MS
        if (nowMs - member.seenMs < LOST_MS && !isGone) continue
        this.leave(member)
        if (members.size === 0) this.#emptySinceMs.set(member.token.region, member.seenMs)
        hasLost = true
      }
    }
    return hasLost
  }

  /** Which of `regions`, those that only agents check, have an agent; those without one for less than LOST_MS are left out. */
  presenceIn(regions: readonly string[]): readonly RegionPresence[] {
    const nowMs = this.#monotonicMs()
    return regions.flatMap((region): readonly RegionPresence[] => {
      if (this.#membersOf(region).size > 0) {
        this.#emptySinceMs.delete(region)
        return [{ region, isPresent: true }]
      }
      const sinceMs = this.#emptySinceMs.get(region) ?? nowMs
      this.#emptySinceMs.set(region, sinceMs)
      return nowMs - sinceMs < LOST_MS ? [] : [{ region, isPresent: false }]
    })
  }

  #membersOf(region: string): Map<string, Member> {
    const known = this.#regions.get(region)
    if (known !== undefined) return known
    const members = new Map<string, Member>()
    this.#regions.set(region, members)
    return members
  }
}

function openSession(publicKey: string): Member['session'] {
  try {
    return offerSession(publicKey)
  } catch {
    throw new ApiError('invalid', 'public_key: is no X25519 public key')
  }
}
