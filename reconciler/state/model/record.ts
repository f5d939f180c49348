/** Maximum of runs, events, unused approvals and unused acknowledgements in a state; the oldest are dropped first. */
export const RUNS_KEPT = 200
export const EVENTS_KEPT = 1_000
export const APPROVALS_KEPT = 50
/** Longest duration of a suspension (milliseconds): ten years, so that its end is a valid date. */
export const SUSPENSION_MS_MAX = 10 * 366 * 86_400_000

/** Outcome of a run. `held-back`: a safety limit blocked changes; `undecided`: manual decision required. */
export type RunOutcome = 'done' | 'partial' | 'held-back' | 'undecided' | 'failed' | 'interrupted'

/** The record of one finished run. */
export interface RunRecord {
  readonly runId: string
  readonly command: string
  /** What started it: `command`, or of a controller `interval`, `push`, `webhook`, `api`, `retry`. */
  readonly trigger: string
  /** Commit of the manifests, with `-dirty` when the folder differed from it; null for none. */
  readonly commitSha: string | null
  /** Approval digest of the blocked changes; null for none. */
  readonly planDigest: string | null
  readonly outcome: RunOutcome
  readonly startedAt: string
  readonly finishedAt: string
  readonly exitCode: number
  /** Whether the branch no longer contained the commit applied before: then `commitSha` is no baseline for later runs. */
  readonly isHistoryRewritten: boolean
  readonly counts: Readonly<globalThis.Record<string, number>>
}

/** An event in the history of a state. */
export interface StateEvent {
  /** Ascending number within the state. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly at: string
  readonly runId: string | null
  readonly key: string | null
  /** Type, such as `HealLoop`. */
  readonly type: string
  readonly severity: 'info' | 'warning' | 'error'
  readonly message: string
}

/** Blocks changes of services until it ends. */
export interface Suspension {
  /** `metadata.name` of a manifest, where `*` stands for any characters; `*` alone is the whole set. */
  readonly scope: string
  readonly reason: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly since: string
  /** ISO 8601, UTC; null without an end. */
  readonly until: string | null
}

/** Whether `suspension` blocks changes at `nowMs` (milliseconds since the epoch). Pure. */
export function isInForce({ until }: Suspension, nowMs: number): boolean {
  return until === null || Date.parse(until) > nowMs
}

/** The approval of changes that a safety limit blocks. */
export interface Approval {
  readonly digest: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/** A request for a sync by the leading replica. A state has at most one. */
export interface SyncRequest {
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/** The acknowledgement of a rewritten history that ends with `commitSha`. */
export interface HistoryAcknowledgement {
  readonly commitSha: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}
