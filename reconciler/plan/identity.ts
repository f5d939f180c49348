import type { CanonicalService } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import { grouped } from './grouped.ts'
import { type Blocked, blocked } from './planValue.ts'

/** The service that a manifest refers to. */
export type Identity =
  | { readonly kind: 'bound'; readonly binding: Binding; readonly renamedFrom: string | null }
  /** Named by `metadata.id`, and not yet owned. */
  | { readonly kind: 'named'; readonly service: ServiceResponse }
  | { readonly kind: 'new' }
  | Blocked

/** Inputs of `identify`. */
export interface IdentityInput {
  readonly desired: readonly DesiredService[]
  /** Keys whose manifest exists but is invalid: their bindings are not available to a rename. */
  readonly frozenKeys: ReadonlySet<string>
  readonly bindings: readonly Binding[]
  readonly actual: ReadonlyMap<string, ServiceResponse>
  /** Whether there is a state: without one only `metadata.id` identifies a service. */
  readonly hasState: boolean
  /** Whether no manifest has a problem. A file that is not YAML hides its manifests, which seem to be removed. */
  readonly isValid: boolean
}

/** A desired service with its identity. */
export interface IdentifiedService {
  readonly service: DesiredService
  readonly identity: Identity
}

/**
 * The identity of every desired service, in order: by its binding, `metadata.id` or `previousNames`, by equality with one
 * removed manifest, or new. A service that two manifests could claim is blocked. Pure.
 */
export function identifyServices(input: IdentityInput): readonly IdentifiedService[] {
  const byKey = new Map(input.bindings.map((binding) => [binding.key, binding]))
  const present = new Set([...input.desired.map((service) => service.key), ...input.frozenKeys])
  const vanished = input.bindings.filter(
    (binding) => !present.has(binding.key) && binding.tombstonedAtMs === null,
  )
  const announced = input.desired.map((service): IdentifiedService => {
    const binding = byKey.get(service.key)
    const identity =
      binding === undefined
        ? withoutBinding(service, vanished, input)
        : withBinding(service, { kind: 'bound', binding, renamedFrom: null })
    return { service, identity }
  })
  const applied = vanished.filter(isApplied)
  // Stryker disable next-line ConditionalExpression: it only saves time, and in most plans nothing has vanished.
  if (applied.length === 0) return soleClaims(announced, input)
  const renamed = withUnannouncedRenames(announced, applied)
  const likely = withLikelyRenames(renamed, applied, input.actual)
  return soleClaims(input.isValid ? likely : withoutGuesses(announced, likely), input)
}

/**
 * `guessed` without renames that were not announced: the manifest that seems to be removed may be one of those with
 * problems.
 */
function withoutGuesses(
  announced: readonly IdentifiedService[],
  guessed: readonly IdentifiedService[],
): readonly IdentifiedService[] {
  return guessed.map(({ service, identity: guess }, index) => {
    const isGuess = announced[index]?.identity.kind === 'new' && guess.kind !== 'new'
    if (!isGuess) return { service, identity: guess }
    const names = guess.kind === 'bound' ? [guess.binding.key] : 'claims' in guess ? (guess.claims ?? []) : []
    const [first = ''] = names
    const message = `it may be the new name of ${shownNames(names)}, or that manifest has a problem`
    const hint = `correct the manifests with problems, or set previousNames: [${first}]`
    const identity = blocked(service.key, message, hint, { claims: names, needsDecision: false })
    return { service, identity }
  })
}

/** A binding for which a definition was sent. */
type Applied = Binding & { readonly desired: CanonicalService }

function isApplied(binding: Binding): binding is Applied {
  return binding.desired !== null
}

type Bound = Extract<Identity, { kind: 'bound' }>

function withBinding(service: DesiredService, bound: Bound): Identity {
  if (service.id === undefined || service.id === bound.binding.serviceId) return bound
  return blocked(
    service.key,
    `metadata.id names service ${service.id}, but the state binds this name to ${bound.binding.serviceId}`,
    'remove metadata.id, or correct it',
    { claims: [bound.binding.key] },
  )
}

function withoutBinding(
  service: DesiredService,
  vanished: readonly Binding[],
  input: IdentityInput,
): Identity {
  const former = vanished.filter(
    (binding) => service.previousNames.includes(binding.key) || binding.serviceId === service.id,
  )
  if (former.length > 1) {
    const names = former.map((binding) => binding.key)
    const message = `previousNames matches several services: ${names.join(', ')}`
    return blocked(service.key, message, 'keep one of them', { claims: names })
  }
  const [only] = former
  if (only !== undefined) {
    return withBinding(service, { kind: 'bound', binding: only, renamedFrom: only.key })
  }
  if (service.id !== undefined) return named(service.key, service.id, input)
  if (input.hasState) return { kind: 'new' }
  return blocked(
    service.key,
    'without a state only services with metadata.id can be identified',
    'add --state FILE, which the first apply creates, or set metadata.id',
    { needsDecision: false },
  )
}

function named(key: string, id: string, input: IdentityInput): Identity {
  const owner = input.bindings.find((binding) => binding.serviceId === id)
  if (owner !== undefined) {
    return blocked(key, `service ${id} belongs to ${owner.key}`, 'remove one of the two manifests')
  }
  const service = input.actual.get(id)
  if (service !== undefined) return { kind: 'named', service }
  return blocked(
    key,
    `service ${id} of metadata.id does not exist in this organisation`,
    'remove metadata.id to create it',
  )
}

/** Those of `vanished` that no manifest claims yet. */
function unclaimed(
  identified: readonly IdentifiedService[],
  vanished: readonly Applied[],
): readonly Applied[] {
  const claimed = new Set(identified.map(({ identity }) => bindingOf(identity)?.key))
  return vanished.filter((binding) => !claimed.has(binding.key))
}

function bindingOf(identity: Identity): Binding | undefined {
  return identity.kind === 'bound' ? identity.binding : undefined
}

/** One key was removed and exactly one added with the same definition: the manifest was renamed without previousNames. */
function withUnannouncedRenames(
  identified: readonly IdentifiedService[],
  vanished: readonly Applied[],
): readonly IdentifiedService[] {
  const alike = grouped(unclaimed(identified, vanished), (binding) => shapeOf(binding.desired))
  const pairs = identified.flatMap(({ service, identity }) => {
    const candidates = identity.kind === 'new' ? alike.get(shapeOf(service.canonical)) : undefined
    return candidates === undefined ? [] : [{ service, candidates, likely: likelyOf(service, candidates) }]
  })
  const rivalsOf = grouped(
    pairs.flatMap(({ likely }) => likely),
    ({ key }) => key,
  )
  const renamed = new Map<string, Identity>()
  for (const { service, candidates, likely } of pairs) {
    const [binding] = likely
    if (binding === undefined) continue
    const isSole = likely.length === 1 && rivalsOf.get(binding.key)?.length === 1
    const message = `its definition equals that of removed manifests: ${likely.map(({ key }) => key).join(', ')}`
    const claims = candidates.map(({ key }) => key)
    renamed.set(
      service.key,
      isSole
        ? { kind: 'bound', binding, renamedFrom: binding.key }
        : blocked(service.key, message, 'name the right one in previousNames', { claims }),
    )
  }
  return identified.map(({ service, identity }) => ({
    service,
    identity: renamed.get(service.key) ?? identity,
  }))
}

/** The `candidates`, all of the shape of `service`, that `service` may be a rename of. */
function likelyOf(service: DesiredService, candidates: readonly Applied[]): readonly Applied[] {
  // A user could not distinguish so many either.
  if (candidates.length > TWINS_MAX) return candidates.slice(0, TWINS_MAX)
  return candidates.filter((binding) => asksForTheSame(service, binding))
}

/**
 * A new key has the service name or the addresses of a removed one, and another definition. A rename with a change is more
 * likely than the intention to delete a service with its history and create another one.
 */
function withLikelyRenames(
  identified: readonly IdentifiedService[],
  vanished: readonly Applied[],
  actual: IdentityInput['actual'],
): readonly IdentifiedService[] {
  const free = unclaimed(identified, vanished).filter(({ serviceId }) => actual.has(serviceId))
  const byName = grouped(free, (binding) => binding.desired.name)
  const byAddresses = grouped(free, (binding) => addressesOf(binding.desired))
  return identified.map(({ service, identity }) => {
    if (identity.kind !== 'new') return { service, identity }
    const { key, canonical } = service
    const likely = byName.get(canonical.name) ?? byAddresses.get(addressesOf(canonical)) ?? []
    const [first] = likely
    if (first === undefined) return { service, identity }
    const names = likely.map((binding) => binding.key)
    const message = `it has the name or the addresses of removed manifests: ${shownNames(names)}`
    const hint = `if it is the same service, set previousNames: [${first.key}]; if not, apply once without it`
    return { service, identity: blocked(key, message, hint, { claims: names }) }
  })
}

/** Maximum of names in one message. */
const NAMES_MAX = 3

function shownNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_MAX).join(', ')
  return names.length > NAMES_MAX ? `${shown} and ${names.length - NAMES_MAX} more` : shown
}

function addressesOf({ endpoints }: CanonicalService): string {
  return JSON.stringify(endpoints.map(({ url }) => url).sort())
}

/** Maximum of removed manifests of one shape that a new one is compared with. */
const TWINS_MAX = 20

/** The parts that a rename does not change, as text: all but the name and the fingerprints of secrets. */
function shapeOf({ name: _, ...unnamed }: CanonicalService): string {
  return JSON.stringify(unnamed, (key, value: unknown) => (key === 'sealed' ? undefined : value))
}

function asksForTheSame(service: DesiredService, binding: Applied): boolean {
  const wanted = { ...service.canonicalUnder(binding.key), name: binding.desired.name }
  return changesBetween(binding.desired, wanted, 'by-fingerprint').length === 0
}

/** Blocks manifests that claim the same service. */
function soleClaims(
  identified: readonly IdentifiedService[],
  input: IdentityInput,
): readonly IdentifiedService[] {
  const claims = grouped(identified, ({ identity }) => bindingOf(identity)?.serviceId)
  const bound = new Set(input.bindings.map((binding) => binding.serviceId))
  const namesakes = grouped([...input.actual.values()], (actual) => actual.name)
  return identified.map(({ service, identity }) => {
    if (identity.kind === 'new') {
      const twins = (namesakes.get(service.canonical.name) ?? []).filter(({ id }) => !bound.has(id))
      return { service, identity: blockedBySameName(service, twins) ?? identity }
    }
    if (identity.kind !== 'bound') return { service, identity }
    const rivals = claims.get(identity.binding.serviceId) ?? []
    if (rivals.length < 2) return { service, identity }
    const message = `${rivals.map((rival) => rival.service.key).join(' and ')} claim the same service`
    const rest = { claims: [identity.binding.key] }
    return { service, identity: blocked(service.key, message, 'remove one of them', rest) }
  })
}

/**
 * Blocks `service` if unmanaged services have its name, because one of them may be its own. `lost` is the deleted service
 * of the manifest.
 */
export function blockedBySameName(
  service: DesiredService,
  twins: readonly ServiceResponse[],
  lost?: string,
): Blocked | null {
  if (twins.length === 0) return null
  const ids = twins.map((twin) => twin.id).join(', ')
  const message = `a service named "${service.canonical.name}" exists and is not managed here: ${ids}`
  if (lost === undefined) {
    const hint =
      '"pharos state adopt apply" adopts it if it is equal; metadata.id selects it in any case; or choose another spec.name'
    return blocked(service.key, message, hint)
  }
  // Only a manifest without a binding can adopt a service.
  const hint = `its service ${lost} was deleted: after "pharos state unbind ${service.key}" the other one can be adopted or bound; or choose another spec.name`
  return blocked(service.key, message, hint, { lost })
}
