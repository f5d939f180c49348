import type { Change } from '../plan/planValue.ts'
import { liveFingerprint } from './liveFingerprint.ts'
import type { PlanResult } from './planResult.ts'

/** Oldest list that a change is written on (milliseconds), and most changes that are. */
const LIST_MS_MAX = 30_000
const CHANGES_PER_LIST = 50

/** What became of a planned change by the time it is its turn. */
export type Due =
  | { readonly kind: 'write'; readonly change: Change; readonly planResult: PlanResult }
  /** Its service changed meanwhile, such that nothing has to be done any more. */
  | { readonly kind: 'settled' }
  /** Its service changed meanwhile, and what would have to be done now is not for this run to do. */
  | { readonly kind: 'stale'; readonly message: string }

/**
 * The live services during a long apply: there is no version to compare, so they are listed again now and
 * then, and a service that is no longer what the plan saw is planned anew instead of overwritten.
 */
export class LiveWatch {
  readonly #planned: PlanResult
  readonly #look: () => Promise<PlanResult>
  readonly #nowMs: () => number
  /** Whether a change may be replaced by another: those of a reviewed plan may not. */
  readonly #replans: boolean
  #latest: PlanResult
  #listedAtMs: number
  #changes = 0
  #looking: Promise<void> | undefined

  constructor(
    planned: PlanResult,
    look: () => Promise<PlanResult>,
    options: { readonly nowMs: () => number; readonly replans: boolean },
  ) {
    this.#planned = planned
    this.#latest = planned
    this.#look = look
    this.#nowMs = options.nowMs
    this.#replans = options.replans
    this.#listedAtMs = planned.listedAtMs
  }

  /** What of `change` is due now. Throws what the client throws. */
  async due(change: Change): Promise<Due> {
    if (this.#nowMs() - this.#listedAtMs >= LIST_MS_MAX || this.#changes >= CHANGES_PER_LIST) {
      this.#looking ??= this.#lookAgain()
    }
    await this.#looking
    this.#changes += 1
    const planResult = this.#latest
    if (liveFingerprint(change, planResult) === liveFingerprint(change, this.#planned)) {
      return { kind: 'write', change, planResult }
    }
    if (!this.#replans) return { kind: 'stale', message: STALE }
    const { braked, plan } = planResult
    const now = braked.changes.find(({ key }) => key === change.key)
    if (now !== undefined && now.kind !== 'blocked' && now.kind !== 'drifted') {
      return { kind: 'write', change: now, planResult }
    }
    if (now?.kind === 'blocked') return { kind: 'stale', message: now.message }
    const isPlanned = plan.changes.some(({ key }) => key === change.key)
    return isPlanned ? { kind: 'stale', message: STALE } : { kind: 'settled' }
  }

  async #lookAgain(): Promise<void> {
    try {
      this.#latest = await this.#look()
      this.#listedAtMs = this.#latest.listedAtMs
      this.#changes = 0
    } finally {
      this.#looking = undefined
    }
  }
}

const STALE = 'the service changed since this was planned: plan again'
