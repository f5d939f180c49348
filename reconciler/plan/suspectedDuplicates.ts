import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import { grouped } from './grouped.ts'

/** An unmanaged service that equals a managed one. */
export interface SuspectedDuplicate {
  readonly key: string
  /** Id of the managed service. */
  readonly of: string
  readonly id: string
}

/**
 * Services among `actual` that may be duplicates, for example of a creation that took effect after it was repeated. They
 * have the name and the definition last sent for one of `bindings`, but belong neither to a binding nor to `claimedIds`,
 * the ids in manifests. They are reported, never removed: another client may have created them. Pure.
 */
export function suspectedDuplicates(
  actual: readonly ServiceResponse[],
  bindings: readonly Binding[],
  claimedIds: ReadonlySet<string>,
): readonly SuspectedDuplicate[] {
  const bound = new Set(bindings.map(({ serviceId }) => serviceId))
  const free = actual.filter(({ id }) => !bound.has(id) && !claimedIds.has(id))
  // The usual case needs no comparison.
  if (free.length === 0) return []
  const byName = grouped(free, ({ name }) => name)
  const there = new Set(actual.map(({ id }) => id))
  return bindings.flatMap(({ key, serviceId, desired }) =>
    // If the managed service is deleted, the other one is no duplicate.
    desired === null || !there.has(serviceId)
      ? []
      : (byName.get(desired.name) ?? [])
          .filter(
            (service) => changesBetween(canonicalResponse(service), desired, 'set-is-equal').length === 0,
          )
          .map(({ id }) => ({ key, of: serviceId, id })),
  )
}
