import { grouped } from '../../plan/grouped.ts'
import type { Change, Plan } from '../../plan/planValue.ts'
import type { TrippedLimit } from '../../plan/safetyLimits.ts'
import type { SetConfig } from '../config/controllerSchema.ts'
import { counted } from '../../text/counts.ts'
import type { WindowState } from '../schedule/window.ts'
import type { ServiceOwner } from './serviceClaims.ts'

/** Inputs of holdsOf besides the plan. */
export interface HoldFacts {
  /** Why the repository cannot be read; null when it can. */
  readonly sourceProblem: string | null
  /** Whether the history of the branch was rewritten and not acknowledged. */
  readonly isRewritten: boolean
  readonly window: WindowState
  readonly prune: SetConfig['prune']
  /** The other set of this controller that owns a service, or may own it; null for none. */
  readonly otherOwner: (serviceId: string) => ServiceOwner | null
}

/** Safety limits of the controller on `plan`. An approval releases none of them. Pure. */
export function holdsOf(plan: Plan, facts: HoldFacts): readonly TrippedLimit[] {
  const changing = plan.changes.filter(isWrite)
  const pruning = changing.filter((change) => change.kind === 'prune' && change.how !== 'forget')
  const holds: TrippedLimit[] = []
  const hold = (brake: TrippedLimit['brake'], message: string, changes: readonly Change[]): void => {
    holds.push({ brake, message, keys: changes.map(({ key }) => key), approvable: false })
  }
  if (facts.sourceProblem !== null) {
    hold(
      'sourceUnavailable',
      `nothing is written while the repository cannot be read: ${facts.sourceProblem}`,
      changing,
    )
  }
  if (!facts.window.isOpen) hold('windowClosed', facts.window.reason, changing)
  if (facts.isRewritten) {
    const message = 'the branch no longer contains the commit that was last applied, so no service is removed'
    hold('historyRewritten', message, pruning)
  }
  if (facts.prune === 'never') hold('pruneOff', 'this set removes nothing (prune: never)', pruning)
  // One limit for each other set, not for each service: two sets may overlap in thousands.
  for (const isCertain of [true, false]) {
    const ofOthers = grouped(plan.changes, (change) => {
      const owner = 'id' in change ? facts.otherOwner(change.id) : null
      return owner?.isCertain === isCertain ? owner.set : undefined
    })
    for (const [owner, changes] of ofOthers)
      hold('otherSet', (isCertain ? otherSetText : unopenedSetText)(changes, owner), changes)
  }
  return holds
}

function otherSetText(changes: readonly Change[], owner: string): string {
  const [first] = changes
  if (changes.length === 1 && first !== undefined && 'id' in first)
    return `service ${first.id} belongs to the set ${owner}: keep its id in one of the two`
  return `${changes.length} services belong to the set ${owner}: keep each in one of the two`
}

/** The state of `owner` could name any service that is in no open state. */
function unopenedSetText(changes: readonly Change[], owner: string): string {
  const services = counted(changes.length, 'service')
  return `${services} may belong to the set ${owner}, whose state is not open yet, and cannot be taken over until it is`
}

/** Whether a change sends a request or drops a binding. */
function isWrite(change: Change): boolean {
  return change.kind !== 'blocked' && change.kind !== 'drifted' && change.kind !== 'record'
}
