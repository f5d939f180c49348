import { grouped } from '../plan/grouped.ts'
import type { Prune, Update } from '../plan/planValue.ts'
import type { StateEvent } from '../state/model/record.ts'
import { counted } from '../text/counts.ts'
import { fieldText } from '../text/fieldText.ts'
import type { Applied } from './applySet.ts'
import { duplicateText } from './buildPlan.ts'

type NewEvent = Omit<StateEvent, 'seq'>

/** Maximum of created and changed services of one run in the events, which are limited for all runs together. */
const CHANGED_MAX = 200
/** Maximum of fields in the event of a changed service. */
const FIELDS_MAX = 5

/** The events of a run for the state. `at` is ISO 8601, UTC. Pure. */
export function eventsOfApplied(applied: Applied, runId: string, at: string): readonly NewEvent[] {
  const event = (
    type: string,
    key: string | null,
    message: string,
    severity: StateEvent['severity'] = 'warning',
  ): NewEvent => ({ at, runId, key, type, severity, message })
  const { limited, resolution, duplicates } = applied.planResult
  return [
    ...resolution.recovered.map(({ binding: { key, serviceId } }) =>
      event(
        'CreateRecovered',
        key,
        `the response to a creation was lost; it created service ${serviceId}`,
        'info',
      ),
    ),
    ...limited.changes.flatMap((change) =>
      change.kind === 'drifted' && change.looping.length > 0
        ? [
            event(
              'HealLoop',
              change.key,
              `reverted repeatedly, no longer reverted: ${change.looping.join(', ')}`,
            ),
          ]
        : [],
    ),
    ...limited.tripped.map(({ brake, message }) =>
      event(brake === 'suspectedServerChange' ? 'SuspectedServerChange' : 'HeldBack', null, message),
    ),
    ...duplicates.map((one) => event('SuspectedDuplicate', one.key, duplicateText(one))),
    ...applied.blocked.map(({ key, message }) => event('Blocked', key, message)),
    ...changeEvents(applied.outcomes, event),
    ...applied.outcomes.flatMap(({ change, result, message, notes }) => [
      // After its binding is dropped, nothing else in the state names the service.
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

/** One message for each reason: a run that ended early may have skipped thousands of changes for the same one. */
function skippedMessages(outcomes: Applied['outcomes']): readonly string[] {
  const reasons = grouped(outcomes, ({ result, message }) => (result === 'skipped' ? message : undefined))
  return [...reasons].map(([message, { length }]) => `${counted(length, 'service')} not done: ${message}`)
}

/** The events of created, updated and recorded services, in order of execution. */
function changeEvents(
  outcomes: Applied['outcomes'],
  event: (type: string, key: string | null, message: string, severity: 'info') => NewEvent,
): readonly NewEvent[] {
  const events = outcomes.flatMap(({ change, result, serviceId }) => {
    if (result !== 'done') return []
    const { key } = change
    if (change.kind === 'create') return [event('Created', key, `service ${serviceId} was created`, 'info')]
    if (change.kind === 'update') return [event('Updated', key, updateText(change), 'info')]
    if (change.kind !== 'record') return []
    return [event('Remembered', key, `service ${change.id} matched its manifest`, 'info')]
  })
  const left = events.length - CHANGED_MAX
  if (left <= 0) return events
  return [
    ...events.slice(0, CHANGED_MAX),
    event('Note', null, `${left} more were created or changed`, 'info'),
  ]
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
      return `service ${id} was detached and not changed`
    case 'forget':
      return `service ${id} was already deleted`
  }
}
