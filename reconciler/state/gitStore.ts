import { type Contents, changed, readContents } from './gitContents.ts'
import { GitRef, type GitRefLocation, RefMoved, type StateRef } from './gitRef.ts'
import type { Lease } from './lease.ts'
import { APPROVALS_KEPT, EVENTS_KEPT, RUNS_KEPT, type StateEvent } from './record.ts'
import type { StateDocument } from './stateDocument.ts'
import { leaseLost, StateError } from './stateError.ts'
import type { BindingChange, Intent, OpenIntent, StateReading, StateStore } from './store.ts'

/** Time without a renewal after which the holder of a state in git counts as gone (milliseconds): a renewal is a push. */
const LEASE_TTL_MS = 120_000
/** How often a change is tried again that somebody else's push came before. */
const TRIES_MAX = 5

/**
 * Opens the state in the ref `location` of a git repository, made with the first write. Each write is a commit
 * that is pushed only where the ref still is what was read. Throws StateError.
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
  return new GitStore(ref, await readContents(ref), nowMs)
}

/** Opens the state in the ref `location` to look at it. Throws StateError when there is none. */
export async function readGitStore(location: GitRefLocation): Promise<StateReading> {
  return openGitStore(location)
}

class GitStore implements StateStore {
  readonly isDurable = true
  readonly leaseTtlMs = LEASE_TTL_MS
  readonly beginsAhead = true
  readonly #ref: StateRef
  readonly #nowMs: () => number
  #state: StateDocument
  #lease: Contents['lease']
  #epoch: number | undefined
  /** Approvals that this run used, in case somebody's push brings them back. */
  readonly #used = new Set<string>()
  #isDirty = false
  #pushing: Promise<void> = Promise.resolve()

  constructor(ref: StateRef, { state, lease }: Contents, nowMs: () => number) {
    this.#ref = ref
    this.#state = state
    this.#lease = lease
    this.#nowMs = nowMs
  }

  get stateId(): string {
    return this.#state.stateId
  }
  async home() {
    return this.#state.home
  }
  async bindings() {
    return this.#state.bindings
  }
  async openIntents() {
    return this.#state.intents
  }
  async runs(most: number) {
    return this.#state.runs.slice(0, most)
  }
  async events(most: number) {
    return this.#state.events.slice(0, most)
  }
  async suspensions() {
    await this.#hearWhatPeopleSaid()
    return this.#state.suspensions
  }
  async approvals() {
    await this.#hearWhatPeopleSaid()
    return this.#state.approvals
  }
  async lease(): Promise<Lease | null> {
    const { holder, epoch, renewals } = this.#lease
    return holder === null ? null : { holder, epoch, renewals }
  }

  async acquire(holder: string, unmoved?: Lease) {
    for (let tries = 1; ; tries += 1) {
      const { state, lease } = await readContents(this.#ref)
      const isUnmoved = lease.epoch === unmoved?.epoch && lease.renewals === unmoved.renewals
      if (lease.holder !== null && !isUnmoved) return { heldBy: { ...lease, holder: lease.holder } }
      // Whoever did not give the lease back may have sent what was begun at any time until now.
      const nowMs = this.#nowMs()
      const intents = state.intents.map((intent) => ({ ...intent, sentAtMs: nowMs }))
      this.#state = lease.holder === null ? state : { ...state, intents }
      this.#lease = { holder, epoch: lease.epoch + 1, renewals: 0 }
      try {
        await this.#ref.write(this.#files(), `${holder} begins`)
        this.#epoch = this.#lease.epoch
        this.#isDirty = false
        return { epoch: this.#lease.epoch }
      } catch (error) {
        if (!(error instanceof RefMoved) || tries === TRIES_MAX) throw error
      }
    }
  }

  async renew(): Promise<void> {
    this.#fenced(() => ({}))
    this.#lease = { ...this.#lease, renewals: this.#lease.renewals + 1 }
    await this.#push('still at work', true)
  }

  async release(): Promise<void> {
    if (this.#epoch === undefined) return
    this.#lease = { ...this.#lease, holder: null }
    this.#isDirty = true
    try {
      await this.#push('done')
    } catch (error) {
      // Somebody took over: there is nothing to give back.
      if (!(error instanceof StateError) || error.reason !== 'lost') throw error
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

  async useApproval(digest: string): Promise<boolean> {
    const wasThere = (await this.approvals()).some((approval) => approval.digest === digest)
    this.#used.add(digest)
    this.#fenced(({ approvals }) => ({ approvals: approvals.filter((one) => one.digest !== digest) }))
    await this.#push('use an approval')
    return wasThere
  }

  async restore(document: StateDocument): Promise<void> {
    this.#fenced(() => document)
    await this.#push('restore')
  }

  checkpoint(): Promise<void> {
    return this.#push('checkpoint')
  }

  async suspend(suspension: StateDocument['suspensions'][number]): Promise<void> {
    await this.#said(({ suspensions }) => ({
      suspensions: [...suspensions.filter(({ scope }) => scope !== suspension.scope), suspension],
    }))
  }

  async resume(scope: string): Promise<boolean> {
    let wasThere = false
    await this.#said(({ suspensions }) => {
      wasThere = suspensions.some((one) => one.scope === scope)
      return { suspensions: suspensions.filter((one) => one.scope !== scope) }
    })
    return wasThere
  }

  async approve(approval: StateDocument['approvals'][number]): Promise<void> {
    await this.#said(({ approvals }) => ({
      approvals: [...approvals.filter(({ digest }) => digest !== approval.digest), approval].slice(
        -APPROVALS_KEPT,
      ),
    }))
  }

  async close(): Promise<void> {
    await this.release()
    this.#ref.close()
  }

  #files(): { readonly state: string; readonly lease: string } {
    return {
      state: `${JSON.stringify(this.#state, null, 1)}\n`,
      lease: `${JSON.stringify(this.#lease)}\n`,
    }
  }

  #fenced(change: (state: StateDocument) => Partial<StateDocument>): void {
    if (this.#epoch === undefined || this.#epoch !== this.#lease.epoch) throw leaseLost()
    this.#state = { ...this.#state, ...change(this.#state) }
    this.#isDirty = true
  }

  /** What people say, who hold no lease: tried again on top of whatever came first. */
  async #said(change: (state: StateDocument) => Partial<StateDocument>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { state, lease } = await readContents(this.#ref)
      // Whoever holds the lease knows more than the ref does, except of what people said.
      const known = this.#holds(lease) ? this.#withWhatPeopleSaid(state) : state
      this.#state = { ...known, ...change(known) }
      if (!this.#holds(lease)) this.#lease = lease
      try {
        await this.#ref.write(this.#files(), 'said by a person')
        this.#isDirty = false
        return
      } catch (error) {
        if (!(error instanceof RefMoved) || tries === TRIES_MAX) throw error
      }
    }
  }

  /** Pushes what is not pushed yet, one push after the other. */
  #push(message: string, isRenewal = false): Promise<void> {
    const push = this.#pushing.then(async () => {
      if (!this.#isDirty && !isRenewal) return
      for (let tries = 1; ; tries += 1) {
        try {
          this.#isDirty = false
          return await this.#ref.write(this.#files(), message, isRenewal)
        } catch (error) {
          this.#isDirty = true
          if (!(error instanceof RefMoved) || tries === TRIES_MAX) throw error
          await this.#hearWhatPeopleSaid()
        }
      }
    })
    this.#pushing = push.catch(() => {})
    return push
  }

  /** Somebody pushed before us: fine as long as the lease is still ours. Throws StateError `lost` otherwise. */
  async #hearWhatPeopleSaid(): Promise<void> {
    if (this.#epoch === undefined) return
    const { state, lease } = await readContents(this.#ref)
    if (!this.#holds(lease)) {
      this.#lease = lease
      throw leaseLost()
    }
    this.#state = this.#withWhatPeopleSaid(state)
  }

  #holds({ epoch }: Contents['lease']): boolean {
    return this.#epoch === epoch
  }

  #withWhatPeopleSaid({ suspensions, approvals }: StateDocument): StateDocument {
    const unused = approvals.filter(({ digest }) => !this.#used.has(digest))
    return { ...this.#state, suspensions, approvals: unused }
  }
}
