import type { CommitStatus, StopReason } from '../status/status.ts'

/** How a cycle is watched and stopped. */
export interface CycleControl {
  /** Why no further change may start; null while it may. */
  readonly stopReason: () => StopReason | null
  /** Hears which commit is the newest, also one that may not or cannot be applied. */
  readonly onHead: (sha: string) => void
  readonly onPhase: (phase: 'fetching' | 'planning' | 'applying', commit: string | null) => void
  /** Hears which commit the cycle works on, before it does anything about it. */
  readonly onCommit: (commit: CommitStatus, runId: string) => void
  readonly onProgress: (done: number, total: number) => void
  /** Resolves after `delayMs`, or as soon as no further change may start. */
  readonly sleep: (delayMs: number) => Promise<void>
  /** Ends a fetch on its way. */
  readonly signal: AbortSignal
}
