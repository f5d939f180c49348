import type { Change, Plan, PlannedField } from './planValue.ts'

/** One service that is no longer what we last saw. Fields run from what it is to what it was. */
export interface Drift {
  readonly kind: 'changed' | 'deleted'
  readonly key: string
  readonly id: string
  readonly fields: readonly PlannedField[]
  /** `fields` as people read them. */
  readonly told: readonly PlannedField[]
}

/** What in `plan` comes from changes outside rather than from manifests. Pure. */
export function driftOf(plan: Plan): readonly Drift[] {
  return plan.changes.flatMap(driftOfChange)
}

function driftOfChange(change: Change): readonly Drift[] {
  switch (change.kind) {
    case 'create': {
      const { key, replacesLost } = change
      return replacesLost === null ? [] : [{ kind: 'deleted', key, id: replacesLost, fields: [], told: [] }]
    }
    case 'update': {
      const { key, id, fields, told, outside } = change
      // Without state nobody can tell who changed what: any difference counts.
      const differing = told.filter(({ reason }) => reason === 'differs')
      return changed(key, { id, fields, told: [...outside, ...differing] })
    }
    case 'drifted':
      return [{ kind: 'changed', key: change.key, id: change.id, fields: change.fields, told: change.told }]
    case 'blocked':
      return change.drift === undefined ? [] : changed(change.key, change.drift)
    case 'record':
    case 'prune':
      return []
  }
}

function changed(key: string, { id, fields, told }: Pick<Drift, 'id' | 'fields' | 'told'>): readonly Drift[] {
  const drifted = driftedAmong(fields)
  return drifted.length === 0 ? [] : [{ kind: 'changed', key, id, fields: drifted, told }]
}

/** Those of `fields` that changed outside; of one that the manifest changed too, what it was before anybody did. */
function driftedAmong(fields: readonly PlannedField[]): readonly PlannedField[] {
  return fields.flatMap((field): readonly PlannedField[] => {
    const { pointer, from, reason, outside } = field
    if (reason === 'drift' || reason === 'differs') return [field]
    return outside === undefined ? [] : [{ pointer, from, to: outside.was, reason: 'drift' }]
  })
}
