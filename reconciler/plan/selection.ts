import type { Plan } from './planValue.ts'

/** Whether a run is about the service of this key. */
export type Selection = (key: string) => boolean

/** A plan without the services that a run leaves out, and what it leaves out. */
export interface Narrowed {
  readonly plan: Plan
  /** Services that are left out, and those of them that would have changed. */
  readonly leftOut: { readonly services: number; readonly changes: number }
}

/**
 * `plan` with the chosen services alone. It is narrowed when it is complete, because which service a manifest means depends on all
 * of them. Pure.
 */
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
