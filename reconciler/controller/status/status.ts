import type { ManifestProblem } from '../../manifest/manifestProblem.ts'
import type { PlannedField } from '../../plan/planValue.ts'
import type { SafetyLimitName } from '../../plan/safetyLimits.ts'
import type { Suspension } from '../../state/model/record.ts'
import type { ConditionType } from './conditions.ts'

/** A condition that holds for a set. */
export interface Condition {
  readonly type: ConditionType
  readonly message: string
  /** Advice for the user; null for none. */
  readonly todo: string | null
  /** Since when it holds (ISO 8601, UTC). */
  readonly since: string
}

/** A commit for display. `subject` and `author` come from the repository: text, never markup. */
export interface CommitStatus {
  readonly sha: string
  readonly subject: string
  readonly author: string
  /** Time of the commit (ISO 8601). */
  readonly at: string
}

/** The trigger of a run. */
export type Trigger = 'start' | 'interval' | 'webhook' | 'api' | 'retry' | 'preempted'

/** The outcome of a run. `interrupted`: the program was asked to stop. `superseded`: there was a newer commit. */
export type RunOutcome = 'converged' | 'partial' | 'withheld' | 'failed' | 'interrupted' | 'superseded'

/** A finished run. */
export interface RunStatus {
  readonly runId: string
  readonly trigger: Trigger
  readonly commit: string | null
  readonly startedAt: string
  readonly finishedAt: string
  readonly outcome: RunOutcome
  /** Number of changes by result, as in `pharos state history`. */
  readonly counts: Readonly<Record<string, number>>
  /** Requests to the API. */
  readonly requests: number
}

/** Why a run stops early: no further change starts. */
export type StopReason = 'stopping' | 'superseded' | 'lease-lost' | 'suspended'

/** A run in progress. */
export interface RunningStatus {
  readonly trigger: Trigger
  readonly commit: string | null
  readonly startedAt: string
  readonly phase: 'fetching' | 'planning' | 'applying'
  readonly done: number
  readonly total: number
  /** Null unless it is stopping. */
  readonly stopReason: StopReason | null
}

/** The state of one service. */
export type ServiceState = 'Synced' | 'Drifted' | 'Pending' | 'Blocked' | 'Failed' | 'Removing' | 'Suspended'

/**
 * Why a service does not match git, for machines: the safety limit that blocks its change; `manifestInvalid`; `needsDecision`
 * or `cannotPlan` without a plan; `driftPolicy` or `healLoop` for a manual change that is kept; the result of the last attempt;
 * `manifestGone` for a service that waits to be deleted.
 */
export type ServiceReason =
  | SafetyLimitName
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
  /** Its id in the API; null before it is created. */
  readonly serviceId: string | null
  /** Path of its manifest in the repository; null when it has no valid one. */
  readonly manifest: string | null
  readonly state: ServiceState
  /** Why it is not Synced, for machines; null when it is. */
  readonly reason: ServiceReason | null
  /** Why it is not Synced, for users; empty when it is. */
  readonly message: string
  /** Advice for the user; null for none. */
  readonly todo: string | null
  /**
   * The differences, from the current value of each field to the planned one.
   * Secrets are fingerprints: print with `fieldText` or `fieldDocument` of reconciler/render, never raw.
   */
  readonly fields: readonly PlannedField[]
}

/** Changes that wait for approval. One digest approves all of them in their current form. */
export interface PendingApproval {
  readonly digest: string
  readonly brakes: readonly { readonly brake: string; readonly message: string }[]
  /** One line for each blocked change, such as `delete checkout`. */
  readonly changes: readonly string[]
}

/** A problem of a manifest, as in `validate`. */
export interface ProblemStatus extends Omit<ManifestProblem, 'code' | 'hint'> {
  readonly code: string
  readonly hint: string | null
}

/** Whether a set may write now. */
export interface WindowStatus {
  readonly isOpen: boolean
  readonly reason: string
  /** The next change; null for none. */
  readonly changesAt: string | null
}

/** The status of one set. */
export interface SetStatus {
  readonly name: string
  readonly source: {
    /** Address of the repository without credentials. */
    readonly repository: string
    readonly branch: string
    readonly path: string
    readonly environment: string | null
  }
  readonly apiUrl: string
  /** `leader` writes; `starting` until the first attempt to acquire the lease. */
  readonly role: 'leader' | 'follower' | 'starting'
  /** Name of the holder of the lease; null when it is free. */
  readonly leaseHolder: string | null
  readonly headline: ConditionType
  /** The conditions that hold, the most urgent first. Never empty. */
  readonly conditions: readonly Condition[]
  /** The newest accepted commit; null before the first. */
  readonly commit: CommitStatus | null
  /** A newer commit that was refused (CommitRefused); null for none. */
  readonly refusedCommit: CommitStatus | null
  /** SHA of the last commit that was applied completely; null for none. */
  readonly appliedCommit: string | null
  readonly running: RunningStatus | null
  readonly lastRun: RunStatus | null
  /** When the next run is due without another trigger; null during a run. */
  readonly nextRunAt: string | null
  readonly services: readonly ServiceStatus[]
  readonly counts: Readonly<Record<ServiceState, number>>
  /** Number of secrets whose manual change would not be detected. */
  readonly unverifiableSecrets: number
  readonly approvals: readonly PendingApproval[]
  readonly problems: readonly ProblemStatus[]
  readonly suspensions: readonly Suspension[]
  readonly window: WindowStatus
}

/** The status of a controller. */
export interface ControllerStatus {
  readonly version: string
  readonly startedAt: string
  readonly at: string
  /** Name of this replica in leases. */
  readonly replica: string
  readonly sets: readonly SetStatus[]
}

/** Types of events, stable for receivers. */
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

/** An event. No member ever contains a secret. */
export interface ControllerEvent {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Name of the set; null for an event of the controller itself. */
  readonly set: string | null
  readonly type: EventType
  readonly severity: 'info' | 'warning' | 'error'
  readonly message: string
  readonly todo: string | null
  readonly commit: string | null
  readonly runId: string | null
  /** Affected services, sorted. */
  readonly keys: readonly string[]
  readonly condition: ConditionType | null
  /** Equal for events with the same content; values that change by themselves, such as durations, are left out. */
  readonly dedupeKey: string
}

/** Receives every event, in order, and returns at once, so that a slow receiver does not delay a run. */
export type EventSink = (event: ControllerEvent) => void
