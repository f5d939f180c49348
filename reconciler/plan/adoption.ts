import { canonicalResponse } from '../../api/contract/canonical.ts'
import type { FieldChange } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { alignedChanges } from './alignment.ts'
import type { Binding } from './binding.ts'
import { bindingFor, type DesiredService } from './desiredService.ts'

/** The result of adoption for one manifest without a service. */
export type Adoption =
  /** One service equals the manifest: the manifest adopts it. */
  | { readonly kind: 'match'; readonly key: string; readonly binding: Binding }
  /** One service has the name, but another definition. */
  | {
      readonly kind: 'differs'
      readonly key: string
      readonly id: string
      readonly fields: readonly FieldChange[]
    }
  /** Several services have the name. */
  | { readonly kind: 'several'; readonly key: string; readonly ids: readonly string[] }

/**
 * Matches manifests without a service to unmanaged services, by `metadata.id` or by name. Only a service that equals its
 * manifest can be adopted; any secret counts as the same secret. Manifests that match nothing are left out. Pure.
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
    const isMatch = (candidate: ServiceResponse): boolean =>
      service.id === undefined ? candidate.name === service.canonical.name : candidate.id === service.id
    const found = free.filter(isMatch)
    const [only] = found
    if (only === undefined) return []
    // Two manifests of one name could each refer to it.
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
  const binding = bindingFor(desired, service.id, observed, desired.paused ?? null)
  return { kind: 'match', key: desired.key, binding }
}
