import type { CanonicalService } from '../../../api/contract/canonical.ts'
import type { Binding } from '../../plan/binding.ts'
import type {
  Approval,
  HistoryAcknowledgement,
  RunRecord,
  StateEvent,
  Suspension,
  SyncRequest,
} from './record.ts'

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
  /** For a creation: what is sent, with fingerprints for secrets, and how to find out what became of it. */
  readonly create: CreateIntent | null
}

export interface CreateIntent {
  readonly sent: CanonicalService
  readonly preIds: readonly string[]
  readonly policy: Pick<Binding, 'onDelete' | 'protect' | 'pruneAfterSecs'>
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

/** What a state holds, read-only. */
export interface StateReading {
  /** Whether anything outlives the process. */
  readonly isDurable: boolean
  /** The state's own name, made with it: fingerprints of secrets belong to it. */
  readonly stateId: string
  home(): Promise<StateHome | null>
  bindings(): Promise<readonly Binding[]>
  openIntents(): Promise<readonly OpenIntent[]>
  /** The last `most` runs, newest first. */
  runs(most: number): Promise<readonly RunRecord[]>
  /** The last `most` events, newest first. */
  events(most: number): Promise<readonly StateEvent[]>
  /** All suspensions, those that have run out included. */
  suspensions(): Promise<readonly Suspension[]>
  /** Approvals that no run has used yet. */
  approvals(): Promise<readonly Approval[]>
  /** Requests that no replica has taken yet: one at most. */
  syncRequests(): Promise<readonly SyncRequest[]>
  /** Acknowledgements of rewritten history that no run has used yet. */
  historyAcknowledgements(): Promise<readonly HistoryAcknowledgement[]>
  /** The lease; null when it is free. */
  lease(): Promise<Lease | null>
  /**
   * When the state was last written, which a holder of its lease does again and again (milliseconds since the epoch,
   * by the writer's clock); null where it is unknown.
   */
  writtenAtMs(): Promise<number | null>
  close(): Promise<void>
}

/**
 * What the reconciler remembers between runs, and who may write it.
 *
 * One holder at a time has the lease. Every method that changes bindings, intents, runs or events belongs to
 * the holder: it checks in the same step as it writes that the lease still is the one that this store took,
 * and throws StateError `lost` otherwise. Suspensions and approvals are of people, who need no lease.
 *
 * No request may leave before `begin` resolved for its intent: what is begun survives a power cut. All other
 * writes survive at the latest when `checkpoint` resolves; what is lost of them is found out again from the
 * open intents.
 */
export interface StateStore extends StateReading {
  /** Time without a renewal after which a holder counts as gone (milliseconds). */
  readonly leaseTtlMs: number
  /** Longest time between two looks at a lease that another one holds (milliseconds). */
  readonly leaseLookMsMax: number
  /**
   * Whether a run hands all intents that it can foresee to one `begin`, because each costs more than the
   * request itself.
   */
  readonly beginsAhead: boolean
  /**
   * Takes the lease for `holder` when it is free, when its holder's process is certainly gone, or when it is
   * exactly `unmoved`: the lease that the caller watched for `leaseTtlMs` without seeing it renewed.
   */
  acquire(holder: string, unmoved?: Lease): Promise<{ readonly epoch: number } | { readonly heldBy: Lease }>
  /** Shows that the holder lives. Throws StateError `lost` when another one took over. */
  renew(): Promise<void>
  /** Lets the next one in at once; nothing when the lease is not held. */
  release(): Promise<void>
  settleIn(home: StateHome): Promise<void>
  begin(intents: readonly Intent[]): Promise<void>
  /** Records the outcome of `opId` and what it does to the bindings, together or not at all. */
  settle(opId: string, change: BindingChange): Promise<void>
  /** Records that the server answered a creation with an error of its own: it cannot land later. */
  failed(opId: string): Promise<void>
  /** Changes bindings without any request. A binding settles what creations of its key are open. */
  save(change: BindingChange): Promise<void>
  recordRun(run: RunRecord): Promise<void>
  note(events: readonly Omit<StateEvent, 'seq'>[]): Promise<void>
  /** Takes the approval of `digest` out of the state; whether there was one. */
  useApproval(digest: string): Promise<boolean>
  /** Takes the request for a sync out of the state; whether there was one. */
  takeSyncRequest(): Promise<boolean>
  /** Takes the acknowledgement of `commitSha` out of the state; whether there was one. */
  useHistoryAcknowledgement(commitSha: string): Promise<boolean>
  /** Puts `document` in the place of everything but the lease, its name and its fingerprints included. */
  restore(document: StateDocument, onProgress?: (done: number, total: number) => void): Promise<void>
  checkpoint(): Promise<void>
  /** Needs no lease. A second suspension of the same scope takes the place of the first. */
  suspend(suspension: Suspension): Promise<void>
  /** Needs no lease. Ends the suspension of `scope`; whether there was one. */
  resume(scope: string): Promise<boolean>
  /** Needs no lease. */
  approve(approval: Approval): Promise<void>
  /** Needs no lease. One request waits at a time. */
  requestSync(request: SyncRequest): Promise<void>
  /** Needs no lease. */
  acknowledgeHistory(acknowledgement: HistoryAcknowledgement): Promise<void>
}

/** Who may write a state. */
export interface Lease {
  /** For people: program, host and process. */
  readonly holder: string
  /** Grows by one with every holder: what an earlier one still writes is refused. */
  readonly epoch: number
  /** Grows with every sign of life of the holder. */
  readonly renewals: number
}

/** Everything that a state holds, as one JSON value: how it is exported, and what a state in git is. */
export interface StateDocument {
  readonly version: number
  readonly stateId: string
  readonly home: StateHome | null
  readonly bindings: readonly Binding[]
  readonly intents: readonly OpenIntent[]
  /** Newest first, as are events. */
  readonly runs: readonly RunRecord[]
  readonly events: readonly StateEvent[]
  readonly suspensions: readonly Suspension[]
  readonly approvals: readonly Approval[]
  readonly syncRequests: readonly SyncRequest[]
  readonly historyAcknowledgements: readonly HistoryAcknowledgement[]
}
