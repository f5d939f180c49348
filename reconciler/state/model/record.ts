/** Most runs, events, unused approvals and unused acknowledgements that a state keeps: the oldest go first. */
export const RUNS_KEPT = 200
export const EVENTS_KEPT = 1_000
export const APPROVALS_KEPT = 50
/** Longest suspension that ends by itself (milliseconds): ten years. Its end has to be a date. */
export const SUSPENSION_MS_MAX = 10 * 366 * 86_400_000

/** How a run ended. `held-back`: a safety limit blocked changes; `undecided`: manual decision required. */
export type RunOutcome = 'done' | 'partial' | 'held-back' | 'undecided' | 'failed' | 'interrupted'

/** One finished run, for the record. */
export interface RunRecord {
  readonly runId: string
  readonly command: string
  /** What started it: `command`, or of a controller `interval`, `push`, `webhook`, `api`, `retry`. */
  readonly trigger: string
  /** Commit of the manifests, with `-dirty` where the folder differed from it; null when they were no commit. */
  readonly commitSha: string | null
  /** Digest of what was planned; null when nothing was. */
  readonly planDigest: string | null
  readonly outcome: RunOutcome
  readonly startedAt: string
  readonly finishedAt: string
  readonly exitCode: number
  /** Whether the branch no longer contained the commit applied before: its commit is no base for later runs. */
  readonly isHistoryRewritten: boolean
  readonly counts: Readonly<globalThis.Record<string, number>>
}

/** Something that people may want to know later. */
export interface StateEvent {
  /** Ascending number within the state. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly at: string
  readonly runId: string | null
  readonly key: string | null
  /** What happened, in one word, such as `HealLoop`. */
  readonly type: string
  readonly severity: 'info' | 'warning' | 'error'
  readonly message: string
}

/** Blocks changes of services for a while. */
export interface Suspension {
  /** `metadata.name` of a manifest, where `*` stands for any characters; `*` alone is the whole set. */
  readonly scope: string
  readonly reason: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly since: string
  /** ISO 8601, UTC; null when it is ended by hand. */
  readonly until: string | null
}

/** Whether `suspension` blocks changes at `nowMs` (milliseconds since the epoch). Pure. */
export function isInForce({ until }: Suspension, nowMs: number): boolean {
  return until === null || Date.parse(until) > nowMs
}

/** A person's consent to changes that a safety limit blocks. */
export interface Approval {
  readonly digest: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/** A request that the replica that leads fetches the repository soon. At most one waits in a state. */
export interface SyncRequest {
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/** A person's word that the branch may end with `commitSha`, although its history was rewritten. */
export interface HistoryAcknowledgement {
  readonly commitSha: string
  readonly actor: string
  /** ISO 8601, UTC. */
  readonly at: string
}
