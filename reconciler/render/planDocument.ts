import { formatPath } from '../../api/contract/problem.ts'
import type { PlanResult } from '../apply/planResult.ts'
import type { Change, PlannedField } from '../plan/planValue.ts'
import { fieldPath } from '../text/fieldText.ts'
import { countsOf, type ShownPlan } from './planText.ts'

/**
 * A plan as data for --json: every field with its JSON pointer, without secrets and their fingerprints. Fields are aligned as
 * in the text: an endpoint that only moved is unchanged. Pure.
 */
export function planDocument(planResult: PlanResult & Pick<ShownPlan, 'planDigest'>): object {
  const { limited, plan, leftOut, digest, duplicates, planDigest } = planResult
  return {
    changes: limited.changes.map(changeDocument),
    withheld: limited.withheld.map(changeDocument),
    brakes: limited.tripped,
    ...(planDigest === undefined ? {} : { digest: planDigest }),
    ...(digest === null ? {} : { approval: digest }),
    unchanged: plan.unchanged,
    ...(leftOut.services === 0 ? {} : { leftOut }),
    ...(duplicates.length === 0 ? {} : { suspectedDuplicates: duplicates }),
    counts: countsOf(planResult),
  }
}

/** One change as data. Pure. */
export function changeDocument(change: Change): object {
  switch (change.kind) {
    case 'create':
      return {
        kind: 'create',
        key: change.key,
        name: change.desired.name,
        paused: change.paused,
        replacesLost: change.replacesLost,
      }
    case 'update': {
      const { kind, key, id, renamedFrom, replace, pausing } = change
      return { kind, key, id, renamedFrom, replace, pausing, fields: change.shown.map(fieldDocument) }
    }
    case 'record':
      return { kind: 'record', key: change.key, id: change.id, renamedFrom: change.renamedFrom }
    case 'drifted': {
      const { kind, key, id, shown, looping } = change
      return { kind, key, id, fields: shown.map(fieldDocument), looping }
    }
    case 'prune':
      return change
    case 'blocked': {
      const { kind, key, message, hint, needsDecision } = change
      return { kind, key, message, hint, needsDecision }
    }
  }
}

/** One field as data: current value, planned value, and the value before a manual change. Pure. */
export function fieldDocument(field: PlannedField): object {
  const { pointer, from, to, reason, outside } = field
  const was = outside === undefined ? {} : { was: withoutMarks(outside.was) }
  return {
    pointer,
    path: formatPath(fieldPath(pointer)),
    from: withoutMarks(from),
    to: withoutMarks(to),
    reason,
    ...was,
  }
}

/** Replaces secrets by `{ "sealed": true }`, and a missing field by null. */
function withoutMarks(value: unknown): unknown {
  if (value === undefined) return null
  const text = JSON.stringify(value, (_key, inner: unknown) => {
    const isSealed = typeof inner === 'object' && inner !== null && 'sealed' in inner
    return isSealed ? { sealed: true } : inner
  })
  return JSON.parse(text)
}
