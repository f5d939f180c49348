import type { CanonicalService } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { grouped } from './grouped.ts'
import type { Blocked } from './planValue.ts'

/** Which service a manifest means. */
export type Identity =
  | { readonly kind: 'bound'; readonly binding: Binding; readonly renamedFrom: string | null }
  /** Named by `metadata.id`, not ours yet. */
  | { readonly kind: 'named'; readonly id: string }
  | { readonly kind: 'new' }
  | Blocked

/** What identities are found among. */
export interface IdentityScene {
  readonly desired: readonly DesiredService[]
  /** Keys whose manifest is there but not usable: their bindings are not free for a rename. */
  readonly frozenKeys: ReadonlySet<string>
  readonly bindings: readonly Binding[]
  readonly actual: ReadonlyMap<string, ServiceResponse>
  /** Whether bindings are remembered: without state only `metadata.id` names a service. */
  readonly hasState: boolean
}

/**
 * The identity of every desired service: by its binding, by `metadata.id`, by `previousNames`, by asking
 * for exactly what one vanished key asked for, or new. Anything that two could claim is blocked. Pure.
 */
export function identify(scene: IdentityScene): ReadonlyMap<string, Identity> {
  const byKey = new Map(scene.bindings.map((binding) => [binding.key, binding]))
  const present = new Set([...scene.desired.map((service) => service.key), ...scene.frozenKeys])
  const vanished = scene.bindings.filter(
    (binding) => !present.has(binding.key) && binding.tombstonedAtMs === null,
  )
  const identities = new Map<string, Identity>()
  for (const service of scene.desired) {
    const binding = byKey.get(service.key)
    identities.set(
      service.key,
      binding === undefined
        ? withoutBinding(service, vanished, scene)
        : withBinding(service, { kind: 'bound', binding, renamedFrom: null }),
    )
  }
  const renamed = withUnannouncedRenames(scene.desired, identities, vanished)
  return soleClaims(withLikelyRenames(scene, renamed, vanished), scene)
}

type Bound = Extract<Identity, { kind: 'bound' }>

function withBinding(service: DesiredService, bound: Bound): Identity {
  if (service.id === undefined || service.id === bound.binding.serviceId) return bound
  return blocked(
    service.key,
    `metadata.id names service ${service.id}, but the state binds this name to ${bound.binding.serviceId}`,
    'remove metadata.id, or correct it',
  )
}

function withoutBinding(
  service: DesiredService,
  vanished: readonly Binding[],
  scene: IdentityScene,
): Identity {
  const former = vanished.filter(
    (binding) => service.previousNames.includes(binding.key) || binding.serviceId === service.id,
  )
  const [only] = former
  if (former.length === 1 && only !== undefined) {
    return withBinding(service, { kind: 'bound', binding: only, renamedFrom: only.key })
  }
  if (former.length > 1) {
    const names = former.map((binding) => binding.key)
    const message = `previousNames matches several services: ${names.join(', ')}`
    return blocked(service.key, message, 'keep one of them', names)
  }
  if (service.id !== undefined) return named(service.key, service.id, scene)
  if (scene.hasState) return { kind: 'new' }
  return {
    ...blocked(
      service.key,
      'without state only a service with metadata.id can be found again',
      'give --state FILE, or set metadata.id',
    ),
    needsDecision: false,
  }
}

function named(key: string, id: string, scene: IdentityScene): Identity {
  const owner = scene.bindings.find((binding) => binding.serviceId === id)
  if (owner !== undefined) {
    return blocked(key, `service ${id} belongs to ${owner.key}`, 'remove one of the two manifests')
  }
  if (scene.actual.has(id)) return { kind: 'named', id }
  return blocked(
    key,
    `service ${id} of metadata.id does not exist in this organisation`,
    'remove metadata.id to have it created',
  )
}

/** A key vanished and one appeared that asks for the same, and nothing else does: it was renamed without a word. */
function withUnannouncedRenames(
  desired: readonly DesiredService[],
  identities: ReadonlyMap<string, Identity>,
  vanished: readonly Binding[],
): ReadonlyMap<string, Identity> {
  const taken = new Set(
    [...identities.values()].flatMap((one) => (one.kind === 'bound' ? one.binding.key : [])),
  )
  const free = grouped(
    vanished.filter((binding) => !taken.has(binding.key)),
    (binding) => (binding.desired === null ? undefined : shapeOf(binding.desired)),
  )
  if (free.size === 0) return identities
  const appeared = desired.filter((service) => identities.get(service.key)?.kind === 'new')
  const pairs = appeared.flatMap((service) => {
    const candidates = free.get(shapeOf(service.canonical)) ?? []
    // So many of one shape cannot be told apart anyway.
    const isCrowd = candidates.length > TWINS_MAX
    const likely = isCrowd ? candidates : candidates.filter((binding) => asksForTheSame(service, binding))
    return likely.slice(0, TWINS_MAX).map((binding) => ({ service, binding }))
  })
  const ofService = grouped(pairs, (pair) => pair.service.key)
  const ofBinding = grouped(pairs, (pair) => pair.binding.key)
  const renamed = new Map(identities)
  for (const { service, binding } of pairs) {
    const rivals = ofService.get(service.key) ?? []
    if (rivals.length === 1 && ofBinding.get(binding.key)?.length === 1) {
      renamed.set(service.key, { kind: 'bound', binding, renamedFrom: binding.key })
    } else if (renamed.get(service.key)?.kind === 'new') {
      const candidates = (free.get(shapeOf(service.canonical)) ?? []).map(({ key }) => key)
      const message = `it asks for the same as what was removed: ${rivals.map((pair) => pair.binding.key).join(', ')}`
      renamed.set(service.key, blocked(service.key, message, 'say which with previousNames', candidates))
    }
  }
  return renamed
}

/**
 * A key appeared that shows the name of one that vanished, or calls the same addresses, and asks for something else as
 * well: more likely it was renamed and changed than that a service and its history are to go for another one.
 */
function withLikelyRenames(
  { desired, actual }: IdentityScene,
  identities: ReadonlyMap<string, Identity>,
  vanished: readonly Binding[],
): ReadonlyMap<string, Identity> {
  const taken = new Set(
    [...identities.values()].flatMap((one) => (one.kind === 'bound' ? one.binding.key : [])),
  )
  const free = vanished.filter(({ key, serviceId }) => !taken.has(key) && actual.has(serviceId))
  if (free.length === 0) return identities
  const byName = grouped(free, (binding) => binding.desired?.name)
  const byAddresses = grouped(free, (binding) =>
    binding.desired === null ? undefined : addressesOf(binding.desired),
  )
  const checked = new Map(identities)
  for (const { key, canonical } of desired) {
    if (identities.get(key)?.kind !== 'new') continue
    const likely = byName.get(canonical.name) ?? byAddresses.get(addressesOf(canonical)) ?? []
    const [first] = likely
    if (first === undefined) continue
    const names = likely.map((binding) => binding.key)
    const shown = names.slice(0, NAMES_MAX).join(', ')
    const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : ''
    const message = `it has the name or the addresses of what was removed: ${shown}${more}`
    const hint = `if it is the same service, say previousNames: [${first.key}]; if not, apply once without it`
    checked.set(key, blocked(key, message, hint, names))
  }
  return checked
}

/** Most names that one message lists. */
const NAMES_MAX = 3

function addressesOf({ endpoints }: CanonicalService): string {
  return JSON.stringify(endpoints.map(({ url }) => url).sort())
}

/** Most vanished manifests of one shape that a new one is compared with. */
const TWINS_MAX = 20

/** What a rename leaves alone, as text: everything but the name and the marks of secrets. */
function shapeOf(service: CanonicalService): string {
  return JSON.stringify({ ...service, name: '' }, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && 'sealed' in value ? 'sealed' : value,
  )
}

function asksForTheSame(service: DesiredService, binding: Binding): boolean {
  if (binding.desired === null) return false
  const wanted = { ...service.canonicalUnder(binding.key), name: binding.desired.name }
  return changesBetween(binding.desired, wanted, 'by-mark').length === 0
}

/** Blocks what two manifests claim at once. */
function soleClaims(
  identities: ReadonlyMap<string, Identity>,
  scene: IdentityScene,
): ReadonlyMap<string, Identity> {
  const claims = new Map<string, string[]>()
  for (const [key, identity] of identities) {
    const id = identity.kind === 'bound' ? identity.binding.serviceId : undefined
    if (id !== undefined) claims.set(id, [...(claims.get(id) ?? []), key])
  }
  const bound = new Set(scene.bindings.map((binding) => binding.serviceId))
  const services = new Map(scene.desired.map((service) => [service.key, service]))
  const namesakes = grouped([...scene.actual.values()], (actual) => actual.name)
  const checked = new Map<string, Identity>()
  for (const [key, identity] of identities) {
    const rivals = identity.kind === 'bound' ? (claims.get(identity.binding.serviceId) ?? []) : []
    const service = services.get(key)
    if (rivals.length > 1) {
      const names = identity.kind === 'bound' ? [identity.binding.key] : []
      const message = `${rivals.join(' and ')} claim the same service`
      checked.set(key, blocked(key, message, 'let one of them go', names))
    } else if (identity.kind === 'new' && service !== undefined) {
      const twins = (namesakes.get(service.canonical.name) ?? []).filter(({ id }) => !bound.has(id))
      checked.set(key, blockedByTwins(service, twins) ?? { kind: 'new' })
    } else checked.set(key, identity)
  }
  return checked
}

/**
 * A service of that name which is not ours may be the one that is meant: nobody but a person can tell. `lost` is the
 * service that the manifest had and that is gone.
 */
export function blockedByTwins(
  service: DesiredService,
  twins: readonly ServiceResponse[],
  lost?: string,
): Blocked | null {
  if (twins.length === 0) return null
  const ids = twins.map((twin) => twin.id).join(', ')
  const message = `a service named "${service.canonical.name}" exists and is not managed here: ${ids}`
  if (lost === undefined) {
    const hint =
      '"pharos adopt apply" takes it over where it is equal, metadata.id in any case; or choose another spec.name'
    return blocked(service.key, message, hint)
  }
  // Only a manifest that has none adopts one.
  const hint = `its own, ${lost}, was deleted: after "pharos unbind ${service.key}" the other can be adopted or bound; or choose another spec.name`
  return { ...blocked(service.key, message, hint), lost }
}

function blocked(key: string, message: string, hint: string, claims: readonly string[] = []): Blocked {
  return { kind: 'blocked', key, message, hint, needsDecision: true, claims }
}
