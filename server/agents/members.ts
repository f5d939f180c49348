import { ApiError } from '../../api/contract/apiError.ts'
import { offerSession, type SessionOffer } from '../../monitoring/protocol/sessionSeal.ts'
import type { AgentToken } from '../store/monitoringStore.ts'

/** An agent that neither asks nor reports for this long is lost (milliseconds): it asks every 25 s. */
export const LOST_MS = 45_000
/** Most agents of one token at a time: replicas of one deployment. */
export const TOKEN_INSTANCES_MAX = 32

/** An agent as it introduces itself. */
export interface Introduction {
  readonly instance: string
  readonly token: AgentToken
  readonly publicKey: string
}

/** An agent of a region. */
export interface Member extends Introduction {
  readonly session: { readonly offer: SessionOffer; readonly key: Buffer }
  seenMs: number
}

/** A region that lost its last agent, or has one again. */
export interface RegionChange {
  readonly region: string
  readonly kind: 'lost' | 'back'
}

/** Which agents share each region. An agent counts for LOST_MS after its last request. */
export class Members {
  readonly #monotonicMs: () => number
  readonly #regions = new Map<string, Map<string, Member>>()
  readonly #epochs = new Map<string, number>()
  readonly #emptySinceMs = new Map<string, number>()
  readonly #lost = new Set<string>()
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
    const { instance, token, publicKey } = introduction
    const members = this.#membersOf(token.region)
    const known = members.get(instance)
    if (known !== undefined) {
      if (known.publicKey !== publicKey || known.token.id !== token.id) {
        throw new ApiError('conflict', `another agent has the instance ${instance}`)
      }
      known.seenMs = this.#monotonicMs()
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
    }
    members.set(instance, member)
    this.renewEpoch(token.region)
    return member
  }

  /** Takes note that an agent of `region` reported; nothing happens when it has not asked yet. */
  see(region: string, instance: string): void {
    const member = this.#membersOf(region).get(instance)
    if (member !== undefined) member.seenMs = this.#monotonicMs()
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

  /** Takes out who was not seen for LOST_MS; whether there was any. */
  dropLost(): boolean {
    const lastMs = this.#monotonicMs() - LOST_MS
    let hasLost = false
    for (const members of this.#regions.values()) {
      for (const member of members.values()) {
        if (member.seenMs > lastMs) continue
        this.leave(member)
        if (members.size === 0) this.#emptySinceMs.set(member.token.region, member.seenMs)
        hasLost = true
      }
    }
    return hasLost
  }

  /** Which of `regions`, those that only agents check, have been without one for LOST_MS or have one again: each once. */
  regionChanges(regions: readonly string[]): readonly RegionChange[] {
    const nowMs = this.#monotonicMs()
    return regions.flatMap((region): readonly RegionChange[] => {
      if (this.#membersOf(region).size > 0) {
        this.#emptySinceMs.delete(region)
        return this.#lost.delete(region) ? [{ region, kind: 'back' }] : []
      }
      const sinceMs = this.#emptySinceMs.get(region) ?? nowMs
      this.#emptySinceMs.set(region, sinceMs)
      if (this.#lost.has(region) || nowMs - sinceMs < LOST_MS) return []
      this.#lost.add(region)
      return [{ region, kind: 'lost' }]
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
