import type { ControllerEvent, EventType } from '../../controller/status/status.ts'

/** After this long the same is worth telling again (milliseconds): a reminder comes once a day. */
const TELL_AGAIN_MS = 12 * 3_600_000
/** Most subjects that are remembered. */
const SUBJECTS_MAX = 10_000

/** Types that contradict one another: what comes later about the same takes back what came before. */
const FAMILIES: Readonly<Partial<Record<EventType, string>>> = {
  RunFinished: 'run',
  RunFailed: 'run',
  ConditionRaised: 'condition',
  ConditionCleared: 'condition',
  DriftFound: 'drift',
  DriftHealed: 'drift',
  ServiceChanged: 'service',
  ServiceFailed: 'service',
  Suspended: 'suspension',
  Resumed: 'suspension',
  LeaseTaken: 'lease',
  LeaseLost: 'lease',
}

/**
 * Decides what was told already. An event is news unless the last one about the same told the same: a failure
 * that is repeated is told once, one that comes back after all was well is told again.
 */
export class News {
  readonly #told = new Map<string, { readonly dedupeKey: string; readonly atMs: number }>()

  /** Whether `event` is news at `nowMs` (monotonic milliseconds). Remembers it when it is. */
  isNews(event: ControllerEvent, nowMs: number): boolean {
    const subject = subjectOf(event)
    const last = this.#told.get(subject)
    if (last?.dedupeKey === event.dedupeKey && nowMs - last.atMs < TELL_AGAIN_MS) return false
    this.#told.delete(subject)
    this.#told.set(subject, { dedupeKey: event.dedupeKey, atMs: nowMs })
    if (this.#told.size > SUBJECTS_MAX) this.#forgetOldest()
    return true
  }

  #forgetOldest(): void {
    for (const subject of this.#told.keys()) {
      this.#told.delete(subject)
      return
    }
  }
}

function subjectOf({ set, type, condition, keys, dedupeKey }: ControllerEvent): string {
  const family = FAMILIES[type]
  return JSON.stringify(family === undefined ? dedupeKey : [set, family, condition, keys])
}
