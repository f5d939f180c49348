import type { Prune } from '../plan/planValue.ts'
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
      // Once its binding is dropped nothing else in the state knows which service it was.
      ...(result === 'done' && change.kind === 'prune'
        ? [event('Removed', change.key, removalText(change), 'info')]
        : []),
      ...(result === 'done' ? [] : [event('NotDone', change.key, message, 'error')]),
      ...notes.map((note) =>
        event(note.startsWith('ServerSideEffect') ? 'ServerSideEffect' : 'Note', change.key, note),
      ),
    ]),
  ]
}

function removalText({ how, id }: Prune): string {
  switch (how) {
    case 'delete':
      return `service ${id} was deleted`
    case 'pause':
      return `service ${id} was paused`
    case 'detach':
      return `service ${id} was let go`
    case 'forget':
      return `service ${id} was gone already`
  }
}
