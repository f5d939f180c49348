import type { ControllerEvent, EventType } from '../../controller/status/status.ts'

/** Time after which an equal event is sent again (milliseconds); reminders are sent once a day. */
const SEND_AGAIN_MS = 12 * 3_600_000
/** Maximum of recorded subjects. */
const SUBJECTS_MAX = 10_000

/** Pairs of types of which the later event revokes the earlier one. */
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
 * Decides which events are new: an event is a duplicate if the last one about its subject was equal. A repeated failure is
 * sent once, and again after a success.
 */
export class DuplicateFilter {
  readonly #sent = new Map<string, { readonly dedupeKey: string; readonly atMs: number }>()

  /** Whether `event` is new at `nowMs` (monotonic milliseconds); records it. */
  isNew(event: ControllerEvent, nowMs: number): boolean {
    const subject = subjectOf(event)
    const last = this.#sent.get(subject)
    if (last?.dedupeKey === event.dedupeKey && nowMs - last.atMs < SEND_AGAIN_MS) return false
    this.#sent.delete(subject)
    this.#sent.set(subject, { dedupeKey: event.dedupeKey, atMs: nowMs })
    const [oldest] = this.#sent.keys()
    if (this.#sent.size > SUBJECTS_MAX && oldest !== undefined) this.#sent.delete(oldest)
    return true
  }
}

function subjectOf({ set, type, condition, keys, dedupeKey }: ControllerEvent): string {
  const family = FAMILIES[type]
  return JSON.stringify(family === undefined ? dedupeKey : [set, family, condition, keys])
}
