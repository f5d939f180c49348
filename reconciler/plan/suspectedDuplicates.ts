import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import { grouped } from './grouped.ts'

/** An unmanaged service that equals what was sent for another, which a manifest has. */
export interface SuspectedDuplicate {
  readonly key: string
  /** The service of the manifest. */
  readonly of: string
  readonly id: string
}

/**
 * Services among `actual` that may be the same creation twice: one that took effect after it was given up, say. They
 * belong neither to `bindings` nor to `claimedIds`, which manifests name, and have the name and the definition that one
 * of `bindings` was sent with. Only shown, never removed: another client may have made them. Pure.
 */
export function suspectedDuplicates(
  actual: readonly ServiceResponse[],
  bindings: readonly Binding[],
  claimedIds: ReadonlySet<string>,
): readonly SuspectedDuplicate[] {
  const bound = new Set(bindings.map(({ serviceId }) => serviceId))
  const free = actual.filter(({ id }) => !bound.has(id) && !claimedIds.has(id))
  // Nearly always there is none, and nothing has to be compared.
  if (free.length === 0) return []
  const byName = grouped(free, ({ name }) => name)
  const there = new Set(actual.map(({ id }) => id))
  return bindings.flatMap(({ key, serviceId, desired }) =>
    // Where its own is gone, the other is no second one.
    desired === null || !there.has(serviceId)
      ? []
      : (byName.get(desired.name) ?? [])
          .filter(
            (service) => changesBetween(canonicalResponse(service), desired, 'set-is-equal').length === 0,
          )
          .map(({ id }) => ({ key, of: serviceId, id })),
  )
}
