import type { Binding } from '../../plan/binding.ts'
import type {
  Approval,
  HistoryAcknowledgement,
  Intent,
  OpenIntent,
  RunRecord,
  StateDocument,
  StateEvent,
  StateHome,
  Suspension,
  SyncRequest,
} from './record.ts'

/** A change of the bindings. */
export interface BindingChange {
  readonly put?: Binding
  /** Key of a binding to remove; with `put`, the former name of a renamed one. */
  readonly drop?: string
}

/** The read-only view of a state. */
export interface StateReading {
  /** Whether the state outlives the process. */
  readonly isDurable: boolean
  /** Id of the state, on which fingerprints of secrets depend. */
  readonly stateId: string
  home(): Promise<StateHome | null>
  bindings(): Promise<readonly Binding[]>
  openIntents(): Promise<readonly OpenIntent[]>
  /** The last `most` runs, newest first. */
  runs(most: number): Promise<readonly RunRecord[]>
  /** The last `most` events, newest first. */
  events(most: number): Promise<readonly StateEvent[]>
  /** All suspensions, including expired ones. */
  suspensions(): Promise<readonly Suspension[]>
  /** Approvals that no run has used yet. */
  approvals(): Promise<readonly Approval[]>
  /** Requests that no replica has taken yet, at most one. */
  syncRequests(): Promise<readonly SyncRequest[]>
  /** Acknowledgements of rewritten history that no run has used yet. */
  historyAcknowledgements(): Promise<readonly HistoryAcknowledgement[]>
  /** The lease; null when it is free. */
  lease(): Promise<Lease | null>
  /**
   * Time of the last write, including renewals of the lease (milliseconds since the epoch, by the writer's clock); null when
   * unknown.
   */
  writtenAtMs(): Promise<number | null>
  close(): Promise<void>
}

/**
 * The persistent state of the reconciler, with its lease.
 *
 * One holder at a time has the lease. Methods that change bindings, intents, runs or events need it: they check it atomically
 * with the write, and throw StateError `lost` without it. Suspensions and approvals need no lease.
 *
 * No request may be sent before `begin` has resolved for its intent: recorded intents survive a power failure. All other writes
 * are durable when `checkpoint` resolves; lost ones are recovered from the open intents.
 */
export interface StateStore extends StateReading {
  /** Time without a renewal after which the lease expires (milliseconds). */
  readonly leaseTtlMs: number
  /** Maximum time between two checks of another holder's lease (milliseconds). */
  readonly leaseCheckMsMax: number
  /** Whether a run passes all intents to one `begin`, because each call costs more than a request. */
  readonly beginsAhead: boolean
  /**
   * Acquires the lease for `holder` when it is free, when the process of its holder has certainly ended, or when it equals
   * `unmoved`: a lease that the caller has watched for `leaseTtlMs` without a renewal.
   */
  acquire(holder: string, unmoved?: Lease): Promise<{ readonly epoch: number } | { readonly heldBy: Lease }>
  /** Renews the lease. Throws StateError `lost` when another holder took over. */
  renew(): Promise<void>
  /** Releases the lease, if it is held. */
  release(): Promise<void>
  settleIn(home: StateHome): Promise<void>
  /** Records intents, in place of earlier ones with the same operation id. */
  begin(intents: readonly Intent[]): Promise<void>
  /** Removes the intent of `opId` and changes the bindings, atomically. */
  settle(opId: string, change: BindingChange): Promise<void>
  /** Records that the server reported the failure of a creation, which therefore cannot take effect later. */
  failed(opId: string): Promise<void>
  /** Changes bindings without a request. A new binding settles open creations of its key. */
  save(change: BindingChange): Promise<void>
  recordRun(run: RunRecord): Promise<void>
  note(events: readonly Omit<StateEvent, 'seq'>[]): Promise<void>
  /** Removes the approval of `digest`; returns whether there was one. */
  useApproval(digest: string): Promise<boolean>
  /** Removes the request for a sync; returns whether there was one. */
  takeSyncRequest(): Promise<boolean>
  /** Removes the acknowledgement of `commitSha`; returns whether there was one. */
  useHistoryAcknowledgement(commitSha: string): Promise<boolean>
  /** Replaces everything but the lease by `document`, including the id of the state. */
  restore(document: StateDocument, onProgress?: (done: number, total: number) => void): Promise<void>
  checkpoint(): Promise<void>
  /** Needs no lease. Replaces an earlier suspension of the same scope. */
  suspend(suspension: Suspension): Promise<void>
  /** Needs no lease. Ends the suspension of `scope`; returns whether there was one. */
  resume(scope: string): Promise<boolean>
  /** Needs no lease. */
  approve(approval: Approval): Promise<void>
  /** Needs no lease. A second request has no effect. */
  requestSync(request: SyncRequest): Promise<void>
  /** Needs no lease. */
  acknowledgeHistory(acknowledgement: HistoryAcknowledgement): Promise<void>
}

/** The permission to write a state. */
export interface Lease {
  /** Program, host and process. */
  readonly holder: string
  /** Increases with every holder: writes of earlier ones are refused. */
  readonly epoch: number
  /** Increases with every renewal. */
  readonly renewals: number
}
