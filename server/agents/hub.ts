import type { Logger } from 'pino'
import { ApiError } from '../../api/contract/apiError.ts'
import {
  PROTOCOL,
  type ResultsResponse,
  type ResultsRequest,
  resultsRequestSchema,
  type SyncResponse,
  type SyncRequest,
  syncRequestSchema,
} from '../../monitoring/protocol/messages.ts'
import { sealForSession } from '../../monitoring/protocol/sessionSeal.ts'
import type { Bus } from '../bus/bus.ts'
import { REGIONS, regionOfSeries } from '../domain/regions.ts'
import type { SealPlace } from '../domain/seal.ts'
import type { Results } from '../results/threads/results.ts'
import type { AgentToken, MonitoringStore } from '../store/monitoringStore.ts'
import { logAlerts } from './agentAlerts.ts'
import { Announcements } from './announcements.ts'
import { type FeedPage, type FeedParts, type FeedRequest, feedPage, reachedBy } from './feed.ts'
import { type Member, Members } from './members.ts'
import type { MonitoredServices } from './monitoredServices.ts'

/** Interval at which refused results of other regions are logged, per token (milliseconds). */
const FOREIGN_LOG_MS = 60_000
/** Epoch of the embedded agent, which shares its regions with no other. */
const EMBEDDED_EPOCH = 1

const NO_CHANGE = { whole: false, more: false, start: [], end: [] }

/** A calling agent; a remote one has a token, and checks its region. */
export interface AgentCaller {
  readonly region: string
  readonly token?: AgentToken
}

/** A waiting sync. */
interface Sync {
  readonly region: string
  readonly request: SyncRequest
  /** `undefined` for the embedded agent. */
  readonly member: Member | undefined
  readonly signal: AbortSignal
}

/** Dependencies of a hub. */
export interface HubParts extends FeedParts {
  readonly store: MonitoringStore & FeedParts['store']
  readonly services: MonitoredServices
  readonly results: Pick<Results, 'update' | 'ingest' | 'reportAgents'>
  readonly nowMs: () => number
  /** A monotonic clock (milliseconds), by which agents count as lost. */
  readonly monotonicMs: () => number
  /** Private address ranges that checks may reach, and addresses of this machine. */
  readonly allowedRanges: readonly string[]
  readonly ownAddresses: () => readonly string[]
  readonly log: Logger
}

/**
 * The server side of the agent protocol: agents request their checks and deliver results. As a bus, it only announces
 * that something changed; the changes are read from the store.
 */
export class Hub implements Bus {
  /** Agents on other machines. */
  readonly members: Members
  readonly #parts: HubParts
  readonly #quietUntilMs = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  /** The newest command that reached an agent of a region; initially the newest one at the start of the server. */
  readonly #reachedUpTo = new Map<string, number>()
  #openedUpTo = 0
  readonly #announcements: Announcements

  constructor(parts: HubParts) {
    this.#parts = parts
    // From the clock, so that epochs are new to agents that outlive a server.
    this.members = new Members(parts.monotonicMs, parts.nowMs())
    this.#announcements = new Announcements(parts, () => this.#wake())
  }

  /** Reads the initial state, before any agent asks. */
  async open(): Promise<void> {
    this.#openedUpTo = await this.#announcements.open()
  }

  async publish(): Promise<void> {
    this.#announcements.schedule()
  }

  /**
   * Responds to a sync of `caller`: at once if there are changes for it, else on the next change or before the timeout.
   * Rejects with `conflict` and `forbidden` as Members do, and with a ZodError for a malformed sync.
   */
  async sync(caller: AgentCaller, body: unknown, signal: AbortSignal): Promise<SyncResponse> {
    const request = syncRequestSchema.parse(body)
    return this.#respondToSync({
      region: caller.region,
      request,
      member: this.#join(caller, request),
      signal,
    })
  }

  /** Stores results of an agent that checks `regions`. Rejects when they must be sent again. */
  async ingest(regions: readonly string[], body: unknown, token?: AgentToken): Promise<ResultsResponse> {
    const request = resultsRequestSchema.parse(body)
    if (token !== undefined) {
      this.members.see(token.region, request.instance)
      this.#watchForeign(token, request)
    }
    return this.#parts.results.ingest({ regions, request })
  }

  /** Drops lost agents and reports regions without agents. Call it about once a second. */
  checkMembers(): void {
    const { services, results } = this.#parts
    if (this.members.dropLost()) this.#wake()
    results.reportAgents(this.members.presenceIn(services.regionsIn('remote')))
  }

  /** Removes all agents of a revoked token. */
  forgetToken(tokenId: string): void {
    this.members.leaveAllOf(tokenId)
    this.#wake()
  }

  /** Makes the agents of every region read its members again. */
  renewMembers(): void {
    for (const { code } of REGIONS) this.members.renewEpoch(code)
    this.#wake()
  }

  /** Sends all services to the results thread again, as after a change of a region's mode. */
  reloadServices(): Promise<void> {
    const { results, services } = this.#parts
    return results.update(async () => ({ services: await services.readAll(), ended: [], isWhole: true }))
  }

  /** Responds to every waiting agent, and stops announcing. */
  async close(): Promise<void> {
    const closed = this.#announcements.close()
    this.#wake()
    await closed
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #change(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      signal.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }

  #join({ region, token }: AgentCaller, request: SyncRequest): Member | undefined {
    if (token === undefined) return undefined
    const { instance, public_key: publicKey, version, load } = request
    if (publicKey === null) throw new ApiError('invalid', 'public_key: is missing')
    const before = this.members.epochOf(region)
    const known = this.members.find(region, instance)?.load
    const member = this.members.join({ instance, token, publicKey, version, load })
    logAlerts(this.#parts.log, { region, agent: token.name, instance }, known, load)
    // The others share the region with it from now on.
    if (this.members.epochOf(region) !== before) this.#wake()
    return member
  }

  async #respondToSync(sync: Sync): Promise<SyncResponse> {
    const { request, member, signal } = sync
    const startedMs = performance.now()
    const ask = member?.asks ?? 0
    let { cursor } = request
    if (request.leaving) {
      if (member !== undefined) this.members.leave(member)
      this.#wake()
      return this.#response(sync, { ...NO_CHANGE, cursor: cursor ?? '' }, startedMs)
    }
    for (;;) {
      const upTo = this.#announcements.upTo
      const page = await this.#page(sync, cursor, upTo)
      const hasChanges = page.start.length > 0 || page.end.length > 0 || page.whole || page.more
      const leftMs = startedMs + request.wait_ms - performance.now()
      const isOver = leftMs <= 0 || signal.aborted || this.#announcements.isClosed
      if (signal.aborted && member !== undefined) this.members.seeDisconnect(member, ask)
      if (hasChanges || isOver || this.#epochOf(sync) !== request.epoch)
        return this.#response(sync, page, startedMs)
      cursor = page.cursor
      if (upTo === this.#announcements.upTo) await this.#change(leftMs, signal)
    }
  }

  #page({ region, request, member }: Sync, cursor: string | null, upTo: number): Promise<FeedPage> {
    if (member !== undefined && this.#parts.services.modeOf(region) !== 'remote') {
      // It has nothing to check: without a cursor, it restarts with the complete feed when that changes.
      return Promise.resolve({ ...NO_CHANGE, whole: request.inventory.count > 0, cursor: '' })
    }
    const reachedUpTo = Math.max(
      this.#reachedUpTo.get(region) ?? this.#openedUpTo,
      reachedBy(request.cursor, this.#parts.storeId),
    )
    this.#reachedUpTo.set(region, reachedUpTo)
    const wrapSecret: FeedRequest['wrapSecret'] = (place, plain) =>
      member === undefined ? { secret: plain } : { sealed: sealForAgent(member, place, plain) }
    return feedPage(this.#parts, { region, cursor, upTo, reachedUpTo, wrapSecret })
  }

  /** Logs, at intervals, results of another region than the agent's, which are refused. */
  #watchForeign({ id, name, region }: AgentToken, { results }: ResultsRequest): void {
    const foreign = results.filter(([series]) => regionOfSeries(series) !== region).length
    if (foreign === 0 || performance.now() < (this.#quietUntilMs.get(id) ?? 0)) return
    this.#quietUntilMs.set(id, performance.now() + FOREIGN_LOG_MS)
    this.#parts.log.warn({ token: name, region, results: foreign }, 'results of another region were refused')
  }

  #epochOf({ region, member }: Sync): number {
    return member === undefined ? EMBEDDED_EPOCH : this.members.epochOf(region)
  }

  #inventoryOf({ region, request: { inventory: reported } }: Sync): 'same' | 'different' {
    const { count, hash } = this.#parts.services.inventoryOf(region)
    return count === reported.count && hash === reported.hash ? 'same' : 'different'
  }

  #response(sync: Sync, page: FeedPage, startedMs: number): SyncResponse {
    const { region, request, member } = sync
    const { storeId: store, nowMs, services, allowedRanges, ownAddresses } = this.#parts
    const isRemote = services.modeOf(region) === 'remote'
    const members =
      member === undefined ? [request.instance] : isRemote ? this.members.instancesOf(region) : []
    const inventory = this.#inventoryOf(sync)
    return {
      ...{ protocol: PROTOCOL, store, region, epoch: this.#epochOf(sync), members: [...members] },
      ...page,
      sealing: member?.session.offer ?? null,
      inventory: member === undefined || isRemote ? inventory : 'same',
      ranges_allowed: [...allowedRanges],
      server_addresses: [...ownAddresses()],
      now_ms: nowMs(),
      waited_ms: Math.round(performance.now() - startedMs),
    }
  }
}

function sealForAgent({ session }: Member, place: SealPlace, plain: string): string {
  const { orgId: org, serviceId: service, endpointId: endpoint, slot } = place
  return sealForSession(session.key, { org, service, endpoint, slot }, plain)
}
