import { LEASE_CHECK_MS_MAX, LEASE_TTL_MS } from '../model/lease.ts'
import {
  EVENTS_KEPT,
  type Intent,
  type OpenIntent,
  RUNS_KEPT,
  type StateDocument,
  type StateEvent,
} from '../model/record.ts'
import { leaseLost, StateError } from '../model/stateError.ts'
import type { BindingChange, Lease, StateStore } from '../model/store.ts'
import { afterTakeover, type Contents, changed, RefContents } from './gitContents.ts'
import { GitRef, type GitRefLocation, retryOnRefMoved, type StateRef } from './gitRef.ts'
import {
  INPUT_NAME,
  unusedIn,
  withAcknowledgement,
  withApproval,
  withOperatorInput,
  withSuspension,
  withSyncRequest,
} from './operatorInput.ts'

/**
 * Opens the state in the ref `location` of a git repository, created by the first write. Each write is a commit that is pushed
 * only if the ref has not changed since it was read. Throws StateError.
 */
export async function openGitStore(
  location: GitRefLocation,
  nowMs: () => number = Date.now,
): Promise<StateStore> {
  const ref = await GitRef.open(location)
  try {
    return await gitStoreOn(ref, nowMs)
  } catch (error) {
    ref.close()
    throw error
  }
}

/** A store on `ref`. */
export async function gitStoreOn(ref: StateRef, nowMs: () => number): Promise<StateStore> {
  const kept = new RefContents(ref)
  return new GitStore(kept, await kept.read(), nowMs)
}

class GitStore implements StateStore {
  readonly isDurable = true
  readonly leaseTtlMs = LEASE_TTL_MS.git
  readonly leaseCheckMsMax = LEASE_CHECK_MS_MAX.git
  readonly beginsAhead = true
  readonly #kept: RefContents
  readonly #nowMs: () => number
  #state: StateDocument
  #lease: Contents['lease']
  readonly #openedWithMs: number | null
  #epoch: number | undefined
  /** Epoch of a lease whose release did not reach the ref, so that the same holder need not wait for its end. */
  #unreleased: number | undefined
  /** Names of operators' input that is being used, so that a concurrent push does not restore it. */
  readonly #used = new Set<string>()
  #isDirty = false
  #queue: Promise<unknown> = Promise.resolve()

  constructor(kept: RefContents, { state, lease, writtenAtMs }: Contents, nowMs: () => number) {
    this.#kept = kept
    this.#state = state
    this.#lease = lease
    this.#openedWithMs = writtenAtMs
    this.#nowMs = nowMs
  }

  get stateId() {
    return this.#state.stateId
  }
  readonly home = async () => this.#state.home
  readonly bindings = async () => this.#state.bindings
  readonly openIntents = async () => this.#state.intents
  readonly runs = async (most: number) => this.#state.runs.slice(0, most)
  readonly events = async (most: number) => this.#state.events.slice(0, most)
  readonly suspensions = async () => (await this.#currentState()).suspensions
  readonly approvals = async () => (await this.#currentState()).approvals
  readonly syncRequests = async () => this.#state.syncRequests
  readonly historyAcknowledgements = async () => this.#state.historyAcknowledgements
  async lease(): Promise<Lease | null> {
    const { holder, epoch, renewals } = this.#lease
    return holder === null ? null : { holder, epoch, renewals }
  }

  /** Time of the commit with which the store was opened. */
  async writtenAtMs() {
    return this.#openedWithMs
  }

  acquire(holder: string, unmoved?: Lease) {
    return this.#enqueue(() => this.#acquire(holder, unmoved))
  }

  async #acquire(holder: string, unmoved?: Lease) {
    return retryOnRefMoved(async () => {
      const { state, lease } = await this.#kept.read()
      const isUnmoved = lease.epoch === unmoved?.epoch && lease.renewals === unmoved.renewals
      const isOurs = lease.epoch === this.#unreleased && lease.holder === holder
      if (lease.holder !== null && !isUnmoved && !isOurs) {
        this.#lease = lease
        return { heldBy: { ...lease, holder: lease.holder } }
      }
      this.#state = lease.holder === null ? state : afterTakeover(state, this.#nowMs())
      this.#lease = { holder, epoch: lease.epoch + 1, renewals: 0 }
      await this.#kept.write({ state: this.#state, lease: this.#lease }, `${holder} begins`)
      this.#epoch = this.#lease.epoch
      this.#unreleased = undefined
      this.#isDirty = false
      return { epoch: this.#lease.epoch }
    })
  }

  async renew(): Promise<void> {
    this.#fenced(() => ({}))
    this.#lease = { ...this.#lease, renewals: this.#lease.renewals + 1 }
    await this.#push('renew', true)
  }

  async release(): Promise<void> {
    if (this.#epoch === undefined) return
    this.#lease = { ...this.#lease, holder: null }
    this.#isDirty = true
    try {
      await this.#push('release')
    } catch (error) {
      // A lease that was taken over, or whose state was removed, needs no release.
      this.#unreleased = this.#epoch
      if (!(error instanceof StateError) || (error.reason !== 'lost' && error.reason !== 'gone')) throw error
    } finally {
      this.#epoch = undefined
    }
  }

  async settleIn({ orgId, url, source }: NonNullable<StateDocument['home']>): Promise<void> {
    this.#fenced((state) => ({ home: { orgId, url, source: source ?? state.home?.source ?? null } }))
  }

  async begin(intents: readonly Intent[]): Promise<void> {
    const ids = new Set(intents.map(({ opId }) => opId))
    this.#fenced((state) => ({
      intents: [
        ...state.intents.filter(({ opId }) => !ids.has(opId)),
        ...intents.map((intent): OpenIntent => ({ ...intent, mayStillLand: true })),
      ],
    }))
    await this.#push(`begin ${intents.length}`)
  }

  async settle(opId: string, change: BindingChange): Promise<void> {
    this.#fenced((state) => ({
      ...changed({ ...state, intents: state.intents.filter((intent) => intent.opId !== opId) }, change),
    }))
  }

  async failed(opId: string): Promise<void> {
    this.#fenced(({ intents }) => ({
      intents: intents.map((intent) => (intent.opId === opId ? { ...intent, mayStillLand: false } : intent)),
    }))
  }

  async save(change: BindingChange): Promise<void> {
    this.#fenced((state) => changed(state, change))
  }

  async recordRun(run: StateDocument['runs'][number]): Promise<void> {
    this.#fenced(({ runs }) => ({ runs: [run, ...runs].slice(0, RUNS_KEPT) }))
  }

  async note(events: readonly Omit<StateEvent, 'seq'>[]): Promise<void> {
    this.#fenced((state) => {
      const last = state.events[0]?.seq ?? 0
      const noted = events.map((event, index) => ({ ...event, seq: last + index + 1 }))
      return { events: [...noted.reverse(), ...state.events].slice(0, EVENTS_KEPT) }
    })
  }

  readonly useApproval = (digest: string) => this.#use(INPUT_NAME.approval(digest))
  readonly takeSyncRequest = () => this.#use(INPUT_NAME.syncRequest)
  readonly useHistoryAcknowledgement = (commitSha: string) => this.#use(INPUT_NAME.acknowledgement(commitSha))

  /** Removes the input of this name from the state; returns whether there was any. */
  async #use(name: string): Promise<boolean> {
    await this.#currentState()
    const without = (state: StateDocument) => withOperatorInput(state, state, new Set([name]))
    if (unusedIn(without(this.#state)) === unusedIn(this.#state)) return false
    this.#used.add(name)
    this.#fenced(without)
    await this.#push(`use ${name}`)
    // If it appears again, it is new.
    this.#used.delete(name)
    return true
  }

  async restore(document: StateDocument): Promise<void> {
    this.#fenced(() => document)
    await this.#push('restore')
  }

  checkpoint(): Promise<void> {
    return this.#push('checkpoint')
  }

  readonly suspend = (suspension: StateDocument['suspensions'][number]) =>
    this.#writeInput((state) => withSuspension(state, suspension))

  async resume(scope: string): Promise<boolean> {
    let wasThere = false
    await this.#writeInput(({ suspensions }) => {
      wasThere = suspensions.some((one) => one.scope === scope)
      return { suspensions: suspensions.filter((one) => one.scope !== scope) }
    })
    return wasThere
  }

  readonly approve = (approval: StateDocument['approvals'][number]) =>
    this.#writeInput((state) => withApproval(state, approval))
  readonly requestSync = (request: StateDocument['syncRequests'][number]) =>
    this.#writeInput((state) => withSyncRequest(state, request))
  readonly acknowledgeHistory = (acknowledgement: StateDocument['historyAcknowledgements'][number]) =>
    this.#writeInput((state) => withAcknowledgement(state, acknowledgement))

  async close(): Promise<void> {
    await this.release()
    this.#kept.close()
  }

  #fenced(change: (state: StateDocument) => Partial<StateDocument>): void {
    if (this.#epoch === undefined || this.#epoch !== this.#lease.epoch) throw leaseLost()
    this.#state = { ...this.#state, ...change(this.#state) }
    this.#isDirty = true
  }

  /** Writes an operator's input, which needs no lease, on top of earlier pushes; `change` returns null for no change. */
  #writeInput(change: (state: StateDocument) => Partial<StateDocument> | null): Promise<void> {
    return this.#enqueue(() =>
      retryOnRefMoved(async () => {
        const { state, lease } = await this.#kept.read()
        // The holder of the lease has a newer state than the ref, except for operators' input.
        const known = this.#holds(lease) ? withOperatorInput(this.#state, state, this.#used) : state
        const changes = change(known)
        this.#state = { ...known, ...changes }
        if (!this.#holds(lease)) this.#lease = lease
        if (changes === null) return
        await this.#kept.write({ state: this.#state, lease: this.#lease }, 'operator input')
        this.#isDirty = false
      }),
    )
  }

  /** Serializes access to the ref: a concurrent write would overwrite the result of a read. */
  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => {})
    return done
  }

  /** Pushes pending changes. */
  #push(message: string, isRenewal = false): Promise<void> {
    return this.#enqueue(async () => {
      if (!this.#isDirty && !isRenewal) return
      let hasMoved = false
      await retryOnRefMoved(async () => {
        if (hasMoved) await this.#readOperatorInput()
        // An earlier operation may have detected the loss of the lease.
        if (this.#epoch !== this.#lease.epoch) throw leaseLost()
        try {
          this.#isDirty = false
          await this.#kept.write({ state: this.#state, lease: this.#lease }, message, isRenewal)
        } catch (error) {
          this.#isDirty = true
          hasMoved = true
          throw error
        }
      })
    })
  }

  /** Reads a newer ref. Throws StateError `lost` when its lease belongs to another holder. */
  async #readOperatorInput(): Promise<void> {
    if (this.#epoch === undefined) return
    const { state, lease } = await this.#kept.read()
    if (!this.#holds(lease)) {
      this.#lease = lease
      throw leaseLost()
    }
    this.#state = withOperatorInput(this.#state, state, this.#used)
  }

  /** The state with the current operators' input. */
  async #currentState(): Promise<StateDocument> {
    await this.#enqueue(() => this.#readOperatorInput())
    return this.#state
  }

  #holds({ epoch }: Contents['lease']): boolean {
    return this.#epoch === epoch
  }
}
