import type { StateEvent } from '../state/record.ts'
import type { Applied } from './applySet.ts'

type NewEvent = Omit<StateEvent, 'seq'>

/** What of a run somebody may want to know later, as events of the state. `at` is ISO 8601, UTC. Pure. */
export function eventsOfApplied(applied: Applied, runId: string, at: string): readonly NewEvent[] {
  const event = (
    type: string,
    key: string | null,
    message: string,
    severity: StateEvent['severity'] = 'warning',
  ): NewEvent => ({ at, runId, key, type, severity, message })
  const { braked, resolution } = applied.situation
  return [
    ...resolution.recovered.map(({ binding: { key, serviceId } }) =>
      event('CreateRecovered', key, `a lost creation turned out to have made service ${serviceId}`, 'info'),
    ),
    ...braked.changes.flatMap((change) =>
      change.kind === 'drifted' && change.looping.length > 0
        ? [event('HealLoop', change.key, `put back again and again, left now: ${change.looping.join(', ')}`)]
        : [],
    ),
    ...braked.tripped.map(({ brake, message }) =>
      event(brake === 'suspectedServerChange' ? 'SuspectedServerChange' : 'HeldBack', null, message),
    ),
    ...applied.blocked.map(({ key, message }) => event('Blocked', key, message)),
    ...applied.outcomes.flatMap(({ change, result, message, notes }) => [
      ...(result === 'done' ? [] : [event('NotDone', change.key, message, 'error')]),
      ...notes.map((note) =>
        event(note.startsWith('ServerSideEffect') ? 'ServerSideEffect' : 'Note', change.key, note),
      ),
    ]),
  ]
}
