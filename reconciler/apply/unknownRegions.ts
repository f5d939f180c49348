import { suggestionFor } from '../manifest/suggestion.ts'
import { inOrder } from '../plan/plan.ts'
import { blocked, type Change, type Plan } from '../plan/planValue.ts'

/** Whether `change` sends the regions of its manifest. Pure. */
export function sendsRegions(change: Change): boolean {
  return change.kind === 'create' || (change.kind === 'update' && change.replace)
}

/**
 * `plan` with every creation and update blocked whose manifest has a region that is not `known`. The API would refuse it
 * only after other changes are applied. `regionsOf` returns the regions in the manifest of a key. Pure.
 */
export function blockUnknownRegions(
  plan: Plan,
  known: readonly string[],
  regionsOf: (key: string) => readonly string[],
): Plan {
  const changes = plan.changes.map((change) => {
    const requested = sendsRegions(change) ? regionsOf(change.key) : []
    const index = requested.findIndex((code) => !known.includes(code))
    const unknown = requested[index]
    if (unknown === undefined) return change
    const meant = suggestionFor(unknown, known)
    const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
    const more = { needsDecision: false, path: ['spec', 'regions', index] }
    return blocked(change.key, `there is no region ${unknown}`, hint, more)
  })
  return { ...plan, changes: inOrder(changes) }
}
