import { fieldText } from '../../text/fieldText.ts'
import type { CycleReport } from '../set/cycleReport.ts'
import { handOverText } from '../set/transfer.ts'
import { CONDITIONS, type ConditionType } from '../status/conditions.ts'
import type { Condition, ControllerEvent, EventType } from '../status/status.ts'
import { driftsOf } from './servicesOf.ts'

/** An event without the fields that all events of a run share. */
export type NewEvent = Pick<ControllerEvent, 'type' | 'severity' | 'message'> &
  Partial<Pick<ControllerEvent, 'todo' | 'keys' | 'condition'>>

/** The fields that all events of a run share. */
export type EventContext = Pick<ControllerEvent, 'at' | 'set' | 'commit' | 'runId'>

/** Emits an event that belongs to no run. `set` is null for one of the controller itself. */
export type Announce = (set: string | null, event: NewEvent) => void

/** A complete event. The `dedupeKey` does not depend on the time. Pure. */
export function eventOf(event: NewEvent, context: EventContext): ControllerEvent {
  const { type, severity, message, todo = null, keys = [], condition = null } = event
  const sorted = [...keys].sort()
  const dedupeKey = [context.set ?? '', type, condition ?? '', context.commit ?? '', message, ...sorted].join(
    '\n',
  )
  return { ...context, type, severity, message, todo, keys: sorted, condition, dedupeKey }
}

/** The events of a cycle, besides conditions. Pure. */
export function eventsOfReport(report: CycleReport, before: CycleReport | null): readonly NewEvent[] {
  const { applied, source, outcome } = report
  const sha = source?.accepted?.loaded.commit.sha
  const isNewCommit = sha !== undefined && sha !== before?.source?.accepted?.loaded.commit.sha
  const changes = applied?.outcomes.filter(({ change }) => change.kind !== 'record') ?? []
  const done = changes.filter(({ result }) => result === 'done')
  const failed = changes.filter(
    ({ result }) => result === 'failed' || result === 'limited' || result === 'lost',
  )
  const drifts = applied === null ? { healed: [], left: [] } : driftsOf(applied)
  const knownDrift = new Set(
    before?.applied == null ? [] : driftsOf(before.applied).left.map(({ key }) => key),
  )
  const newDrift = drifts.left.filter(({ key }) => !knownDrift.has(key))
  const events: NewEvent[] = []
  const add = (
    type: EventType,
    severity: NewEvent['severity'],
    message: string,
    keys: readonly string[] = [],
  ): void => {
    events.push({ type, severity, message, keys })
  }
  for (const one of report.handedOver) add('Notice', 'info', handOverText(one), [one.key])
  for (const { change, notes } of done) {
    add('ServiceChanged', 'info', `${change.key}: ${change.kind} done`, [change.key])
    for (const note of notes) add('Notice', 'warning', `${change.key}: ${note}`, [change.key])
  }
  for (const { change, message } of failed)
    add('ServiceFailed', 'error', `${change.key}: ${change.kind} failed: ${message}`, [change.key])
  for (const { key, fields } of drifts.healed) {
    add(
      'DriftHealed',
      'warning',
      `${key} was changed outside git and reverted: ${fields.map(fieldText).join('; ') || 'it had been deleted'}`,
      [key],
    )
  }
  for (const { key, fields, kind } of newDrift) {
    const what = kind === 'deleted' ? 'it was deleted' : fields.map(fieldText).join('; ')
    add('DriftFound', 'warning', `${key} was changed outside git: ${what}`, [key])
  }
  const isNew = done.length + failed.length > 0 || isNewCommit || outcome !== before?.outcome
  if (isNew && outcome !== 'failed') {
    const counts = Object.entries(report.counts).flatMap(([what, count]) =>
      count > 0 ? [`${count} ${what}`] : [],
    )
    const text = counts.length === 0 ? outcome : `${outcome}: ${counts.join(', ')}`
    add('RunFinished', outcome === 'converged' ? 'info' : 'warning', text)
  }
  return events
}

/** The events of raised and cleared conditions. Pure. */
export function eventsOfConditions(
  now: readonly Condition[],
  before: readonly Condition[],
): readonly NewEvent[] {
  const nameOf = ({ type, message }: Condition): string => `${type} ${message}`
  const known = new Set(before.map(nameOf))
  const holding = new Set(now.map(({ type }) => type))
  const raised = now.filter((condition) => isAnnounced(condition.type) && !known.has(nameOf(condition)))
  const cleared = [...new Set(before.map(({ type }) => type))].filter(
    (type) => isAnnounced(type) && !holding.has(type),
  )
  return [
    ...raised.map(
      ({ type, message, todo }): NewEvent => ({
        type: 'ConditionRaised',
        severity: CONDITIONS[type].severity ?? 'warning',
        message: `${type}: ${message}`,
        todo,
        condition: type,
      }),
    ),
    ...cleared.map(
      (type): NewEvent => ({
        type: 'ConditionCleared',
        severity: 'info',
        message: `${type} no longer holds`,
        condition: type,
      }),
    ),
  ]
}

function isAnnounced(type: ConditionType): boolean {
  return CONDITIONS[type].severity !== undefined
}
