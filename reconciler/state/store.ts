import type { CanonicalService } from '../../api/contract/canonical.ts'
import type { Binding } from '../plan/binding.ts'

/** The organisation and server that a state belongs to, and the manifests. */
export interface StateHome {
  readonly orgId: string
  readonly url: string
  /** Name of the folder or file that was last applied. To settle in with null leaves what is known. */
  readonly source: string | null
}

/** One request that changes something, written down before it is sent. */
export interface Intent {
  readonly opId: string
  readonly runId: string
  readonly key: string
  readonly kind: 'create' | 'replace' | 'pause' | 'resume' | 'delete'
  readonly serviceId: string | null
  readonly sentAtMs: number
  /** For a creation: what is sent, with marks for secrets, and how to find out what became of it. */
  readonly create: CreateIntent | null
}

export interface CreateIntent {
  readonly sent: CanonicalService
  readonly preIds: readonly string[]
  readonly policy: Pick<Binding, 'onDelete' | 'protect'>
}

/** An intent whose outcome is not recorded. `mayStillLand` is false once the server itself said that it failed. */
export interface OpenIntent extends Intent {
  readonly mayStillLand: boolean
}

/** What an outcome does to the bindings. */
export interface BindingChange {
  readonly put?: Binding
  /** Key of a binding to remove; with `put`, the former name of a renamed one. */
  readonly drop?: string
}

/** One finished run, for the record. */
export interface RunRecord {
  readonly runId: string
  readonly command: string
  readonly startedAt: string
  readonly finishedAt: string
  readonly exitCode: number
  readonly counts: Readonly<globalThis.Record<string, number>>
}

/**
 * What the reconciler remembers between runs. Every method that writes resolves only when the write survives
 * a power cut: no request may leave before its intent does.
 */
export interface StateStore {
  /** Whether anything outlives the process. */
  readonly isDurable: boolean
  /** The state's own name, made with it: marks of secrets belong to it. */
  readonly stateId: string
  home(): Promise<StateHome | null>
  settleIn(home: StateHome): Promise<void>
  bindings(): Promise<readonly Binding[]>
  openIntents(): Promise<readonly OpenIntent[]>
  begin(intent: Intent): Promise<void>
  /** Records the outcome of `opId` and what it does to the bindings, together or not at all. */
  settle(opId: string, change: BindingChange): Promise<void>
  /** Records that the server answered a creation with an error of its own: it cannot land later. */
  failed(opId: string): Promise<void>
  /** Changes bindings without any request. A binding settles what creations of its key are open. */
  save(change: BindingChange): Promise<void>
  recordRun(run: RunRecord): Promise<void>
  /** The last `most` runs, newest first. */
  runs(most: number): Promise<readonly RunRecord[]>
  close(): Promise<void>
}
