import type { BrakeName } from '../../plan/brakes.ts'
import type { PlannedField } from '../../plan/planValue.ts'
import type { Suspension } from '../../state/model/record.ts'

/** What may be true of a set, from the most to the least urgent: the first that holds is its headline. */
export const CONDITION_TYPES = [
  /** Cycles fail again and again: nothing was brought about for a while. */
  'Stalled',
  /** The API answers 429 to everything: what is known of the services is old, and nothing gets through. */
  'Throttled',
  /** The repository cannot be read: what was last read stays in force, and nothing is written. */
  'SourceUnavailable',
  /** The newest commit is not signed as the configuration demands: it is not applied. */
  'CommitRefused',
  /** The branch no longer contains the commit that was last applied: nothing is removed until that is acknowledged. */
  'HistoryRewritten',
  /** Many services drifted in the same fields at once: nothing is healed until an approval. */
  'SuspectedServerChange',
  /** A safety limit blocks changes until their digest is approved. */
  'ApprovalRequired',
  /** The same field was put back again and again: another writer changes it too, and it is left alone. */
  'HealLoop',
  /** Some manifests cannot be used. */
  'ManifestsInvalid',
  /** Some services could not be brought to what their manifests say. */
  'Degraded',
  /** The set is suspended, with a reason. */
  'Suspended',
  /** Changes wait for a window. */
  'WindowClosed',
  /** Some services were changed outside, and are left so. */
  'Drifted',
  /** A run is under way. */
  'Reconciling',
  /** No run has ended yet. */
  'Starting',
  /** Another replica does the work. */
  'Following',
  /** Every service is as its manifest says. */
  'Ready',
] as const

export type ConditionType = (typeof CONDITION_TYPES)[number]

/** One thing that is true of a set. */
export interface Condition {
  readonly type: ConditionType
  readonly message: string
  /** What a person should do; null where nothing is to be done. */
  readonly todo: string | null
  /** Since when it is true (ISO 8601, UTC). */
  readonly since: string
}

/** A commit as far as a page shows it. `subject` and `author` come from the repository: text, never markup. */
export interface CommitStatus {
  readonly sha: string
  readonly subject: string
  readonly author: string
  /** When it was made (ISO 8601). */
  readonly at: string
}

/** Why a run happened. */
export type Trigger = 'start' | 'interval' | 'webhook' | 'api' | 'retry' | 'preempted'

/** How a run ended. `interrupted`: the program was asked to stop. `superseded`: a newer commit came. */
export type RunOutcome = 'converged' | 'partial' | 'withheld' | 'failed' | 'interrupted' | 'superseded'

/** A run that ended. */
export interface RunStatus {
  readonly runId: string
  readonly trigger: Trigger
  readonly commit: string | null
  readonly startedAt: string
  readonly finishedAt: string
  readonly outcome: RunOutcome
  /** Changes by what became of them, as `pharos state history` shows them. */
  readonly counts: Readonly<Record<string, number>>
  /** Requests to the API. */
  readonly requests: number
}

/** Why a run ends before it is through: nothing new starts any more. */
export type StopReason = 'stopping' | 'superseded' | 'lease-lost' | 'suspended'

/** A run under way. */
export interface RunningStatus {
  readonly trigger: Trigger
  readonly commit: string | null
  readonly startedAt: string
  readonly phase: 'fetching' | 'planning' | 'applying'
  readonly done: number
  readonly total: number
  /** Null while it goes on. */
  readonly stopReason: StopReason | null
}

/** Where one service stands. */
export type ServiceState = 'Synced' | 'Drifted' | 'Pending' | 'Blocked' | 'Failed' | 'Removing' | 'Suspended'

/**
 * Why a service does not match git, for machines: the brake that holds its change back, or `manifestInvalid`;
 * `needsDecision` and `cannotPlan`, where nothing can be planned for it; `driftPolicy` and `healLoop`, where a change
 * outside is left; what became of the last attempt; `manifestGone` of one that waits to be deleted.
 */
export type ServiceReason =
  | BrakeName
  | 'manifestInvalid'
  | 'needsDecision'
  | 'cannotPlan'
  | 'driftPolicy'
  | 'healLoop'
  | 'notYet'
  | 'planLimit'
  | 'failed'
  | 'unknownOutcome'
  | 'changedMeanwhile'
  | 'manifestGone'

/** One service of a set. */
export interface ServiceStatus {
  /** `metadata.name`. */
  readonly key: string
  /** Its id in the API; null when it is not made yet. */
  readonly serviceId: string | null
  /** Path of its manifest in the repository; null when it has none, or none that can be used. */
  readonly manifest: string | null
  readonly state: ServiceState
  /** Why it is not Synced, as one of a few words; null when it is. */
  readonly reason: ServiceReason | null
  /** Why it is not Synced, for people; empty when it is. */
  readonly message: string
  /** What to do about that; null where nothing is to be done. */
  readonly todo: string | null
  /**
   * What differs, field by field, from what the service has to what it will have; empty when nothing does.
   * Secrets are fingerprints: print with `fieldText` or `fieldDocument` of reconciler/render, never raw.
   */
  readonly fields: readonly PlannedField[]
}

/** Changes that wait for a person. One digest approves all of them as they are now. */
export interface PendingApproval {
  readonly digest: string
  readonly brakes: readonly { readonly brake: string; readonly message: string }[]
  /** One line for each blocked change, such as `delete checkout`. */
  readonly changes: readonly string[]
}

/** A manifest that cannot be used, as `validate` says it. */
export interface ProblemStatus {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/** Whether a set may write now. */
export interface WindowStatus {
  readonly isOpen: boolean
  /** Which window says so, in words. */
  readonly reason: string
  /** When that changes next; null when it does not. */
  readonly changesAt: string | null
}

/** Everything there is to show of one set. */
export interface SetStatus {
  readonly name: string
  readonly source: {
    /** Address of the repository without any credential. */
    readonly repository: string
    readonly branch: string
    readonly path: string
    readonly environment: string | null
  }
  readonly apiUrl: string
  /** Whether this replica writes; `starting` until the first lease was asked for. */
  readonly role: 'leader' | 'follower' | 'starting'
  /** Holder of the lease as it names itself; null when it is free. */
  readonly leaseHolder: string | null
  readonly headline: ConditionType
  /** Everything that is true, the most urgent first. Never empty. */
  readonly conditions: readonly Condition[]
  /** The newest commit that was read; null before the first. */
  readonly commit: CommitStatus | null
  /** A newer commit that is not accepted (CommitRefused); null when there is none. */
  readonly refusedCommit: CommitStatus | null
  /** SHA of the last commit that was applied completely; null when there was none. */
  readonly appliedCommit: string | null
  readonly running: RunningStatus | null
  readonly lastRun: RunStatus | null
  /** When the next run is due without any trigger; null while one is under way. */
  readonly nextRunAt: string | null
  readonly services: readonly ServiceStatus[]
  /** How many services are in each state. */
  readonly counts: Readonly<Record<ServiceState, number>>
  /** Secrets at the API that could be exchanged unseen, because it marks them by key alone. */
  readonly unverifiableSecrets: number
  readonly approvals: readonly PendingApproval[]
  readonly problems: readonly ProblemStatus[]
  /** What blocks changes of services until it is ended or its time is over. */
  readonly suspensions: readonly Suspension[]
  readonly window: WindowStatus
}

/** Everything there is to show. */
export interface ControllerStatus {
  readonly version: string
  readonly startedAt: string
  readonly at: string
  /** How this replica names itself in leases. */
  readonly replica: string
  readonly sets: readonly SetStatus[]
}

/** What an event may be about, stable for receivers. */
export const EVENT_TYPES = [
  'ControllerStarted',
  'ControllerStopping',
  'LeaseTaken',
  'LeaseLost',
  'CommitSeen',
  'RunFinished',
  'RunFailed',
  'ServiceChanged',
  'ServiceFailed',
  'DriftFound',
  'DriftHealed',
  'ConditionRaised',
  'ConditionCleared',
  'Approved',
  'Suspended',
  'Resumed',
  'HistoryAcknowledged',
  'SuspensionReminder',
  'Notice',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** Something that happened. No member ever holds a secret. */
export interface ControllerEvent {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Name of the set; null when it is about the controller itself. */
  readonly set: string | null
  readonly type: EventType
  readonly severity: 'info' | 'warning' | 'error'
  readonly message: string
  readonly todo: string | null
  readonly commit: string | null
  readonly runId: string | null
  /** Services that it is about, sorted. */
  readonly keys: readonly string[]
  readonly condition: ConditionType | null
  /** Equal for events that tell the same: nothing that changes by itself, such as a duration, is part of it. */
  readonly dedupeKey: string
}

/** Takes every event, in order, and returns at once: a slow receiver must not delay a run. */
export type EventSink = (event: ControllerEvent) => void

/** The most urgent of `conditions`; `Ready` when there is none. Pure. */
export function headlineOf(conditions: readonly Pick<Condition, 'type'>[]): ConditionType {
  const held = new Set(conditions.map(({ type }) => type))
  return CONDITION_TYPES.find((type) => held.has(type)) ?? 'Ready'
}
