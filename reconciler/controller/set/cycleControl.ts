import type { CommitStatus, StopReason } from '../status/status.ts'

/** Observes and stops a cycle. */
export interface CycleControl {
  /** Why no further change may start; null while changes may. */
  readonly stopReason: () => StopReason | null
  /** Called with the newest commit, even if it cannot be applied. */
  readonly onHead: (sha: string) => void
  readonly onPhase: (phase: 'fetching' | 'planning' | 'applying', commit: string | null) => void
  /** Called with the commit of the cycle before it is planned. */
  readonly onCommit: (commit: CommitStatus, runId: string) => void
  readonly onProgress: (done: number, total: number) => void
  /** Resolves after `delayMs`, or as soon as no further change may start. */
  readonly sleep: (delayMs: number) => Promise<void>
  /** Aborts a fetch in progress. */
  readonly signal: AbortSignal
}
