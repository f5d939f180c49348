import type { Reason } from '../protocol/outcomes.ts'
import type { CheckReport } from './checkReport.ts'

/** Minimum number of hosts whose failures can show that the network of the agent failed. */
export const SUSPECT_HOSTS_MIN = 5
/** Share of the hosts that must be out of reach. A failure of one data centre is not a fault of the agent. */
const UNREACHED_SHARE_MIN = 0.9
/**
 * Time for which the last check of a host counts (milliseconds); longer while fewer than SUSPECT_HOSTS_MIN hosts were
 * checked since.
 */
const RECENT_MS = 10_000
const REMEMBERED_MS_MAX = 5 * 60_000
/**
 * Maximum time for which a failure waits for the results of other checks (milliseconds). It is shorter once this many
 * checks, and this share, reached their hosts.
 */
const HELD_MS_MAX = 10_000
const REACHED_MIN = 3
const REACHED_SHARE_MIN = 0.25

/** Reasons of a check that did not reach its host. */
const UNREACHED: ReadonlySet<Reason> = new Set([
  'dns_name_unknown',
  'dns_failed',
  'dns_timeout',
  'connect_refused',
  'connect_unreachable',
  'connect_timeout',
  'agent_local',
])

/** The target of repeated checks, which is the same value each time. */
export interface CheckTarget {
  readonly host: string
  readonly org: string
}

/** Number of checks that have ended, and of those that reached their host. */
interface Ended {
  readonly ended: number
  readonly reached: number
}

const NONE: Ended = { ended: 0, reached: 0 }

/** Counts of all checks, and of those of one organisation. */
interface Counts {
  readonly all: Ended
  readonly own: Ended
}

/** A check in progress, with the counts at its start. */
export interface BegunCheck {
  readonly target: CheckTarget
  readonly beganMs: number
  readonly before: Counts
}

/** Dependencies of a Suspicion. */
export interface SuspicionParts {
  /** A monotonic clock (milliseconds). */
  readonly monotonicMs: () => number
  /** Whether the agent checks at least SUSPECT_HOSTS_MIN hosts. With fewer it never suspects itself. */
  readonly hasManyHosts: () => boolean
  /** Called when the agent starts or stops suspecting itself. */
  readonly onChange: (isSuspect: boolean) => void
}

interface Held {
  readonly check: BegunCheck
  readonly report: CheckReport
  readonly deliver: (report: CheckReport) => void
  readonly timer: NodeJS.Timeout
}

/**
 * Decides whether an agent must suspect itself: when nearly all its hosts are out of reach at once, the cause is more
 * likely its own network than the hosts. A failure to reach a host is held for a while, so that the first failures of
 * such an outage are not reported as failures of their hosts. A target that fails again after others were reached is
 * reported immediately.
 */
export class Suspicion {
  readonly #parts: SuspicionParts
  /** The last check of each host, the oldest first. */
  readonly #hosts = new Map<string, { readonly atMs: number; readonly isReached: boolean }>()
  readonly #held = new Set<Held>()
  /** The counts when the last check of a target failed; absent once it was reached. */
  readonly #failed = new WeakMap<CheckTarget, Counts>()
  #unreached = 0
  #ended: Ended = NONE
  readonly #endedOfOrgs = new Map<string, Ended>()
  #isSuspect = false
  #suspectUntilMs = Number.NEGATIVE_INFINITY

  constructor(parts: SuspicionParts) {
    this.#parts = parts
  }

  /** Whether nearly all hosts are out of reach. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  /** Records the start of a check of `target`. */
  begin(target: CheckTarget): BegunCheck {
    return { target, beganMs: this.#parts.monotonicMs(), before: this.#countsOf(target) }
  }

  /** Takes the report of a check. Delivers it now, or once it is clear whether the agent can be trusted. */
  end(check: BegunCheck, report: CheckReport, deliver: (report: CheckReport) => void): void {
    const isReached = report.status > 0 || !UNREACHED.has(report.reason)
    const isOut = !isReached && this.#isOut(check.target)
    // A forbidden address was not dialled, so it says nothing about the network.
    if (report.reason !== 'address_forbidden' && report.attempts > 0) {
      this.#count(check.target, isReached)
      this.#forget(check.target.host)
      if (!isOut) this.#note(check.target.host, isReached)
    }
    if (isReached || isOut || report.outcome === 'unknown' || !this.#parts.hasManyHosts()) deliver(report)
    else {
      const timer = setTimeout(() => this.#release(held), HELD_MS_MAX)
      const held: Held = { check, report, deliver, timer }
      this.#held.add(held)
    }
    for (const one of this.#held) if (this.#isDecided(one.check)) this.#release(one)
  }

  /** Delivers the held reports. */
  stop(): void {
    for (const held of this.#held) this.#release(held)
  }

  #count(target: CheckTarget, isReached: boolean): void {
    const { all, own } = this.#countsOf(target)
    const one = { ended: 1, reached: Number(isReached) }
    this.#ended = sum(all, one)
    this.#endedOfOrgs.set(target.org, sum(own, one))
    if (isReached) this.#failed.delete(target)
    else this.#failed.set(target, this.#countsOf(target))
  }

  #countsOf({ org }: CheckTarget): Counts {
    return { all: this.#ended, own: this.#endedOfOrgs.get(org) ?? NONE }
  }

  #note(host: string, isReached: boolean): void {
    const atMs = this.#parts.monotonicMs()
    this.#hosts.set(host, { atMs, isReached })
    if (!isReached) this.#unreached += 1
    for (const [oldest, { atMs: seenMs }] of this.#hosts) {
      const agoMs = atMs - seenMs
      const isNeeded = agoMs <= RECENT_MS || this.#hosts.size <= SUSPECT_HOSTS_MIN
      if (isNeeded && agoMs <= REMEMBERED_MS_MAX) break
      this.#forget(oldest)
    }
    const { size } = this.#hosts
    const isSuspect = size >= SUSPECT_HOSTS_MIN && this.#unreached >= UNREACHED_SHARE_MIN * size
    if (isSuspect) this.#suspectUntilMs = atMs
    if (isSuspect === this.#isSuspect) return
    this.#isSuspect = isSuspect
    this.#parts.onChange(isSuspect)
  }

  #forget(host: string): void {
    if (this.#hosts.get(host)?.isReached === false) this.#unreached -= 1
    this.#hosts.delete(host)
  }

  /** Whether a check was in progress while the agent suspected itself, even if it ended later. */
  #isSuspectCheck({ beganMs }: BegunCheck): boolean {
    return beganMs <= this.#suspectUntilMs
  }

  #isDecided(check: BegunCheck): boolean {
    return this.#isNetworkFineSince(check.before, check.target) || this.#isSuspectCheck(check)
  }

  /**
   * Whether enough checks reached their hosts since `before`: of all, or of those of other organisations than that of
   * `target`. The dead hosts of one organisation, however many, must not hide the outages of others.
   */
  #isNetworkFineSince(before: Counts, target: CheckTarget): boolean {
    const now = this.#countsOf(target)
    const all = difference(now.all, before.all)
    return isFine(all) || isFine(difference(all, difference(now.own, before.own)))
  }

  /**
   * Whether `target` itself is out of reach: its last check did not reach it either, and enough others were reached
   * since. Each target is checked at a fixed point of its interval, so a few dead ones that are close in time would
   * otherwise look like an outage of the agent in every interval, and would never be reported.
   */
  #isOut(target: CheckTarget): boolean {
    const failed = this.#failed.get(target)
    return failed !== undefined && this.#isNetworkFineSince(failed, target)
  }

  #release(held: Held): void {
    clearTimeout(held.timer)
    this.#held.delete(held)
    held.deliver(this.#isSuspectCheck(held.check) ? suspectReport(held.report) : held.report)
  }
}

function isFine({ ended, reached }: Ended): boolean {
  return reached >= REACHED_MIN && reached >= REACHED_SHARE_MIN * ended
}

function sum(a: Ended, b: Ended): Ended {
  return { ended: a.ended + b.ended, reached: a.reached + b.reached }
}

function difference(a: Ended, b: Ended): Ended {
  return { ended: a.ended - b.ended, reached: a.reached - b.reached }
}

function suspectReport(report: CheckReport): CheckReport {
  const text = 'not judged: this agent reached almost none of its hosts'
  const detail = report.detail === null ? null : { ...report.detail, text }
  return { ...report, outcome: 'unknown', reason: 'agent_suspect', detail }
}
