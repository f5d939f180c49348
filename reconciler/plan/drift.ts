import type { Change, Plan, PlannedField } from './planValue.ts'

/** One service that is no longer what we last saw. Fields run from what it is to what it was. */
export interface Drift {
  readonly kind: 'changed' | 'deleted'
  readonly key: string
  readonly id: string
  readonly fields: readonly PlannedField[]
}

/** What in `plan` comes from changes outside rather than from manifests. Pure. */
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
      // Without state nobody can tell who changed what: any difference counts.
      const fields = change.fields.filter(({ reason }) => reason === 'drift' || reason === 'differs')
      return fields.length === 0 ? [] : [{ kind: 'changed', key: change.key, id: change.id, fields }]
    }
    case 'drifted':
      return [{ kind: 'changed', key: change.key, id: change.id, fields: change.fields }]
    case 'record':
    case 'prune':
    case 'blocked':
      return []
  }
}
