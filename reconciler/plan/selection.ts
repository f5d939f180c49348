import type { Plan } from './planValue.ts'

/** Whether a run includes the service of this key. */
export type Selection = (key: string) => boolean

/** A plan narrowed to the selected services. */
export interface Narrowed {
  readonly plan: Plan
  /** Number of services left out, and of the changes among them. */
  readonly leftOut: { readonly services: number; readonly changes: number }
}

/** Narrows `plan` to the selected services. It takes a complete plan, because identities depend on all manifests. Pure. */
export function narrowed(plan: Plan, isSelected: Selection | undefined): Narrowed {
  if (isSelected === undefined) return { plan, leftOut: { services: 0, changes: 0 } }
  const changes = plan.changes.filter(({ key }) => isSelected(key))
  const unchanged = plan.unchanged.filter(isSelected)
  const omitted = plan.changes.length - changes.length
  return {
    plan: { ...plan, changes, unchanged },
    leftOut: { services: omitted + plan.unchanged.length - unchanged.length, changes: omitted },
  }
}
