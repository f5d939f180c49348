import type { Change, Plan, PlannedField } from './planValue.ts'

/** One service that changed since the last apply. Each field leads from the current value back to the applied one. */
export interface Drift {
  readonly kind: 'changed' | 'deleted'
  readonly key: string
  readonly id: string
  readonly fields: readonly PlannedField[]
}

/** The manual changes that `plan` contains. Pure. */
export function driftOf(plan: Plan): readonly Drift[] {
  return plan.changes.flatMap(driftOfChange)
}

function driftOfChange(change: Change): readonly Drift[] {
  switch (change.kind) {
    case 'create': {
      const { key, replacesLost } = change
      return replacesLost === null ? [] : [{ kind: 'deleted', key, id: replacesLost, fields: [] }]
    }
    case 'update': {
      const { key, id, shown, outside } = change
      // Without state it is unknown who changed what, so every difference counts.
      return changed(key, id, [...outside, ...shown.filter(({ reason }) => reason === 'differs')])
    }
    case 'drifted':
      return changed(change.key, change.id, change.shown)
    case 'blocked':
      if (change.lost !== undefined)
        return [{ kind: 'deleted', key: change.key, id: change.lost, fields: [] }]
      return change.drift === undefined ? [] : changed(change.key, change.drift.id, change.drift.fields)
    case 'record':
    case 'prune':
      return []
  }
}

function changed(key: string, id: string, fields: readonly PlannedField[]): readonly Drift[] {
  return fields.length === 0 ? [] : [{ kind: 'changed', key, id, fields }]
}
