import type { Change } from '../plan/planValue.ts'
import { liveFingerprint } from './liveFingerprint.ts'
import type { PlanResult } from './planResult.ts'

/** Maximum age of the list on which a change is based (milliseconds), and maximum of changes based on one list. */
const LIST_MS_MAX = 30_000
const CHANGES_PER_LIST = 50

/** A planned change at the time of its execution. */
export type Due =
  | { readonly kind: 'write'; readonly change: Change; readonly planResult: PlanResult }
  /** Its service changed meanwhile and now matches. */
  | { readonly kind: 'settled' }
  /** Its service changed meanwhile and needs another plan. */
  | { readonly kind: 'stale'; readonly message: string }

/**
 * The live services during a long apply. The API has no versions to compare, so the services are listed again at intervals,
 * and a service that changed since the plan is planned again instead of overwritten.
 */
export class LiveWatch {
  readonly #planned: PlanResult
  readonly #replan: () => Promise<PlanResult>
  readonly #nowMs: () => number
  /** Whether a change may be replaced: those of a reviewed plan may not. */
  readonly #replans: boolean
  #latest: PlanResult
  #listedAtMs: number
  #changes = 0
  #refreshing: Promise<void> | undefined

  constructor(
    planned: PlanResult,
    replan: () => Promise<PlanResult>,
    options: { readonly nowMs: () => number; readonly replans: boolean },
  ) {
    this.#planned = planned
    this.#latest = planned
    this.#replan = replan
    this.#nowMs = options.nowMs
    this.#replans = options.replans
    this.#listedAtMs = planned.listedAtMs
  }

  /** What is due now for `change`. Throws errors of the client. */
  async due(change: Change): Promise<Due> {
    if (this.#nowMs() - this.#listedAtMs >= LIST_MS_MAX || this.#changes >= CHANGES_PER_LIST) {
      this.#refreshing ??= this.#refresh()
    }
    await this.#refreshing
    this.#changes += 1
    const planResult = this.#latest
    if (liveFingerprint(change, planResult) === liveFingerprint(change, this.#planned)) {
      return { kind: 'write', change, planResult }
    }
    if (!this.#replans) return { kind: 'stale', message: STALE }
    const { limited, plan } = planResult
    const now = limited.changes.find(({ key }) => key === change.key)
    if (now !== undefined && now.kind !== 'blocked' && now.kind !== 'drifted') {
      return { kind: 'write', change: now, planResult }
    }
    if (now?.kind === 'blocked') return { kind: 'stale', message: now.message }
    const isPlanned = plan.changes.some(({ key }) => key === change.key)
    return isPlanned ? { kind: 'stale', message: STALE } : { kind: 'settled' }
  }

  async #refresh(): Promise<void> {
    try {
      this.#latest = await this.#replan()
      this.#listedAtMs = this.#latest.listedAtMs
      this.#changes = 0
    } finally {
      this.#refreshing = undefined
    }
  }
}

const STALE = 'the service changed after the plan: plan again'
