import type { Prune, Update } from '../plan/planValue.ts'
import type { StateEvent } from '../state/model/record.ts'
import { counted } from '../text/counts.ts'
import { fieldText } from '../text/fieldText.ts'
import type { Applied } from './applySet.ts'
import { duplicateText } from './buildPlan.ts'

type NewEvent = Omit<StateEvent, 'seq'>

/** Most services of one run that are noted as made or changed: the events of other runs are wanted as well. */
const MADE_MAX = 200
/** Most fields of a changed service that are noted. */
const FIELDS_MAX = 5

/** The events of a run that the state keeps. `at` is ISO 8601, UTC. Pure. */
export function eventsOfApplied(applied: Applied, runId: string, at: string): readonly NewEvent[] {
  const event = (
    type: string,
    key: string | null,
    message: string,
    severity: StateEvent['severity'] = 'warning',
  ): NewEvent => ({ at, runId, key, type, severity, message })
  const { braked, resolution, duplicates } = applied.planResult
  return [
    ...resolution.recovered.map(({ binding: { key, serviceId } }) =>
      event('CreateRecovered', key, `a creation whose answer was lost made service ${serviceId}`, 'info'),
    ),
    ...braked.changes.flatMap((change) =>
      change.kind === 'drifted' && change.looping.length > 0
        ? [event('HealLoop', change.key, `undone again and again, left now: ${change.looping.join(', ')}`)]
        : [],
    ),
    ...braked.tripped.map(({ brake, message }) =>
      event(brake === 'suspectedServerChange' ? 'SuspectedServerChange' : 'HeldBack', null, message),
    ),
    ...duplicates.map((one) => event('SuspectedDuplicate', one.key, duplicateText(one))),
    ...applied.blocked.map(({ key, message }) => event('Blocked', key, message)),
    ...madeEvents(applied.outcomes, event),
    ...applied.outcomes.flatMap(({ change, result, message, notes }) => [
      // Once its binding is dropped nothing else in the state knows which service it was.
      ...(result === 'done' && change.kind === 'prune'
        ? [event('Removed', change.key, removalText(change), 'info')]
        : []),
      ...(result === 'done' || result === 'skipped' ? [] : [event('NotDone', change.key, message, 'error')]),
      ...notes.map((note) =>
        event(note.startsWith('ServerSideEffect') ? 'ServerSideEffect' : 'Note', change.key, note),
      ),
    ]),
    ...skippedMessages(applied.outcomes).map((message) => event('NotDone', null, message, 'error')),
  ]
}

/** A run that ended early may have left thousands of changes, all for the same reason: one message for each reason. */
function skippedMessages(outcomes: Applied['outcomes']): readonly string[] {
  const counts = new Map<string, number>()
  for (const { result, message } of outcomes)
    if (result === 'skipped') counts.set(message, (counts.get(message) ?? 0) + 1)
  return [...counts].map(([message, count]) => `${counted(count, 'service')} not done: ${message}`)
}

/** What was made, changed or taken over, in the order in which it was done. */
function madeEvents(
  outcomes: Applied['outcomes'],
  event: (type: string, key: string | null, message: string, severity: 'info') => NewEvent,
): readonly NewEvent[] {
  const made = outcomes.flatMap(({ change, result, serviceId }) => {
    if (result !== 'done') return []
    const { key } = change
    if (change.kind === 'create') return [event('Created', key, `service ${serviceId} was created`, 'info')]
    if (change.kind === 'update') return [event('Updated', key, updateText(change), 'info')]
    if (change.kind !== 'record') return []
    return [event('Remembered', key, `service ${change.id} matched its manifest`, 'info')]
  })
  const left = made.length - MADE_MAX
  if (left <= 0) return made
  return [...made.slice(0, MADE_MAX), event('Note', null, `${left} more were created or changed`, 'info')]
}

function updateText({ id, shown }: Update): string {
  const left = shown.length - FIELDS_MAX
  const fields = [...shown.slice(0, FIELDS_MAX).map(fieldText), ...(left > 0 ? [`${left} more`] : [])]
  return `service ${id}: ${fields.join('; ')}`
}

function removalText({ how, id }: Prune): string {
  switch (how) {
    case 'delete':
      return `service ${id} was deleted`
    case 'pause':
      return `service ${id} was paused`
    case 'detach':
      return `service ${id} was detached and left as it is`
    case 'forget':
      return `service ${id} was gone already`
  }
}
