import { ApiError } from '../../api/contract/apiError.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentStats.ts'
import { offerSession, type SessionOffer } from '../../monitoring/protocol/sessionSeal.ts'
import type { RegionPresence } from '../results/agentWatch.ts'
import type { AgentToken } from '../store/monitoringStore.ts'

/** Silence after which an agent is lost (milliseconds): it syncs every 25 s. */
export const LOST_MS = 45_000
/** Silence after a broken sync connection after which an agent is lost (milliseconds). */
export const DISCONNECTED_MS = 5_000
/** Time in which messages of a dead process may arrive after the end of its connection (milliseconds). */
const LAST_MESSAGES_MS = 1_000
/** Maximum number of concurrent agents of one token: replicas of one deployment. */
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
  /** Number of its syncs. */
  asks: number
  /** When its connection ended; `undefined` after its next request. */
  disconnectedAtMs: number | undefined
  /** As of its last request. */
  load: AgentLoad
}

/** The agents that share each region. An agent is a member for LOST_MS after its last request. */
export class Members {
  readonly #monotonicMs: () => number
  readonly #regions = new Map<string, Map<string, Member>>()
  readonly #epochs = new Map<string, number>()
  readonly #emptySinceMs = new Map<string, number>()
  #newestEpoch: number

  /** `firstEpoch` must be above all epochs of earlier starts. */
  constructor(monotonicMs: () => number, firstEpoch: number) {
    this.#monotonicMs = monotonicMs
    this.#newestEpoch = firstEpoch
  }

  /** Instances of `region`, in a stable order. */
  instancesOf(region: string): readonly string[] {
    return [...this.#membersOf(region).keys()].toSorted()
  }

  all(): readonly Member[] {
    return [...this.#regions.values()].flatMap((members) => [...members.values()])
  }

  /** A number that changes whenever the agents of `region` change. */
  epochOf(region: string): number {
    return this.#epochs.get(region) ?? this.renewEpoch(region)
  }

  /** Makes every agent of `region` read the members again. */
  renewEpoch(region: string): number {
    this.#newestEpoch += 1
    this.#epochs.set(region, this.#newestEpoch)
    return this.#newestEpoch
  }

  /**
   * The member for this agent, added if new. Throws `conflict` while another agent has the instance, and `forbidden`
   * when the token has too many agents.
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
      known.disconnectedAtMs = undefined
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
      disconnectedAtMs: undefined,
      asks: 1,
    }
    members.set(instance, member)
    this.renewEpoch(token.region)
    return member
  }

  /** The agent of `region`; `undefined` before its first sync. */
  find(region: string, instance: string): Member | undefined {
    return this.#membersOf(region).get(instance)
  }

  /** Records that an agent of `region` reported results. Ignored before its first sync. */
  see(region: string, instance: string): void {
    const member = this.find(region, instance)
    if (member === undefined) return
    const nowMs = this.#monotonicMs()
    member.seenMs = nowMs
    // It is alive: only the connection of its sync was lost.
    if (member.disconnectedAtMs !== undefined && nowMs - member.disconnectedAtMs >= LAST_MESSAGES_MS)
      member.disconnectedAtMs = undefined
  }

  /**
   * Records the end of the connection of the `ask`-th sync of `member`. Ignored after a newer sync. Without this, a
   * killed agent would keep its share of the endpoints as long as a slow one.
   */
  seeDisconnect(member: Member, ask: number): void {
    if (member.asks === ask) member.disconnectedAtMs = this.#monotonicMs()
  }

  /** Removes `member`, which then has no checks. */
  leave(member: Member): void {
    if (!this.#membersOf(member.token.region).delete(member.instance)) return
    this.renewEpoch(member.token.region)
  }

  /** Removes all agents of a token. */
  leaveAllOf(tokenId: string): void {
    for (const members of this.#regions.values()) {
      for (const member of members.values()) if (member.token.id === tokenId) this.leave(member)
    }
  }

  /** Removes agents that were silent for LOST_MS or disconnected for DISCONNECTED_MS; returns whether there were any. */
  dropLost(): boolean {
    const nowMs = this.#monotonicMs()
    let hasLost = false
    for (const members of this.#regions.values()) {
      for (const member of members.values()) {
        const isDisconnected =
          member.disconnectedAtMs !== undefined && nowMs - member.disconnectedAtMs >= DISCONNECTED_MS
        if (nowMs - member.seenMs < LOST_MS && !isDisconnected) continue
        this.leave(member)
        if (members.size === 0) this.#emptySinceMs.set(member.token.region, member.seenMs)
        hasLost = true
      }
    }
    return hasLost
  }

  /** The presence of agents in `regions`, which only agents check. Omits regions without agents for less than LOST_MS. */
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
    throw new ApiError('invalid', 'public_key: is not an X25519 public key')
  }
}
