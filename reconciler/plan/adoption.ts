import { canonicalResponse } from '../../api/contract/canonical.ts'
import type { FieldChange } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { alignedChanges } from './alignment.ts'
import { type Binding, newBinding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'

/** What adopting found for one manifest that has no service yet. */
export type Adoption =
  /** One service is exactly what the manifest asks for: it becomes the manifest's. */
  | { readonly kind: 'match'; readonly key: string; readonly binding: Binding }
  /** One service has the name, but not the definition. */
  | {
      readonly kind: 'differs'
      readonly key: string
      readonly id: string
      readonly fields: readonly FieldChange[]
    }
  /** Several services have the name. */
  | { readonly kind: 'several'; readonly key: string; readonly ids: readonly string[] }

/**
 * Which of the unmanaged services are meant by the manifests that have none: by `metadata.id`, or
 * by name. Only one that is already as its manifest says is adopted; that a secret is set is taken for the
 * same secret. Manifests that match nothing are left out. Pure.
 */
export function adoptionsOf(
  desired: readonly DesiredService[],
  actual: readonly ServiceResponse[],
  bindings: readonly Binding[],
): readonly Adoption[] {
  const boundKeys = new Set(bindings.map((binding) => binding.key))
  const boundIds = new Set(bindings.map((binding) => binding.serviceId))
  const free = actual.filter((service) => !boundIds.has(service.id))
  const waiting = desired.filter((service) => !boundKeys.has(service.key))
  return waiting.flatMap((service): readonly Adoption[] => {
    const isMeant = (candidate: ServiceResponse): boolean =>
      service.id === undefined ? candidate.name === service.canonical.name : candidate.id === service.id
    const found = free.filter(isMeant)
    const [only] = found
    if (only === undefined) return []
    // Two manifests of one name could each mean it.
    const rivals = waiting.filter(
      (other) => other.id === service.id && other.canonical.name === service.canonical.name,
    )
    if (found.length > 1 || rivals.length > 1) {
      return [{ kind: 'several', key: service.key, ids: found.map(({ id }) => id) }]
    }
    return [adoptionOf(service, only)]
  })
}

function adoptionOf(desired: DesiredService, service: ServiceResponse): Adoption {
  const observed = canonicalResponse(service)
  const fields = alignedChanges(observed, desired.canonical, 'set-is-equal')
  if (fields.length > 0) return { kind: 'differs', key: desired.key, id: service.id, fields }
  const { onDelete, protect, pruneAfterSecs } = desired.policy
  return {
    kind: 'match',
    key: desired.key,
    binding: {
      ...newBinding(desired.key, service.id),
      desired: desired.canonical,
      observed,
      paused: desired.paused ?? null,
      onDelete,
      protect,
      pruneAfterSecs,
    },
  }
}
