import type { ControllerEvent, EventType } from '../../controller/status/status.ts'

/** After this long an equal event is sent again (milliseconds): a reminder comes once a day. */
const SEND_AGAIN_MS = 12 * 3_600_000
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
 * Decides which events are new. An event is new unless the last one about the same subject was equal: a failure that
 * is repeated is sent once, and sent again when it comes back after a success.
 */
export class News {
  readonly #sent = new Map<string, { readonly dedupeKey: string; readonly atMs: number }>()

  /** Whether `event` is news at `nowMs` (monotonic milliseconds). Remembers it when it is. */
  isNews(event: ControllerEvent, nowMs: number): boolean {
    const subject = subjectOf(event)
    const last = this.#sent.get(subject)
    if (last?.dedupeKey === event.dedupeKey && nowMs - last.atMs < SEND_AGAIN_MS) return false
    this.#sent.delete(subject)
    this.#sent.set(subject, { dedupeKey: event.dedupeKey, atMs: nowMs })
    if (this.#sent.size > SUBJECTS_MAX) this.#forgetOldest()
    return true
  }

  #forgetOldest(): void {
    for (const subject of this.#sent.keys()) {
      this.#sent.delete(subject)
      return
    }
  }
}

function subjectOf({ set, type, condition, keys, dedupeKey }: ControllerEvent): string {
  const family = FAMILIES[type]
  return JSON.stringify(family === undefined ? dedupeKey : [set, family, condition, keys])
}
