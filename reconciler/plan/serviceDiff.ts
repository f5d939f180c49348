import { type CanonicalService, canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween, type FieldChange, sameJson } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { alignEndpoints, alignedChanges } from './alignment.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import type { PlannedField, Reason } from './planValue.ts'

/** Changes as people read them: endpoints and assertions are found again where they moved to. */
export interface ShownFields {
  readonly wanted: readonly PlannedField[]
  readonly drifted: readonly PlannedField[]
  /** All changes outside, whether or not the manifest changed the field as well. */
  readonly outside: readonly PlannedField[]
}

/** How a service differs from what its manifest wants, and from what we last saw of it. */
export interface ServiceDiff {
  /** Fields that the manifest changes. */
  readonly wanted: readonly PlannedField[]
  /** Fields that were changed outside since we last looked, towards what they were. */
  readonly drifted: readonly PlannedField[]
  /** The same as people read it. */
  readonly shown: ShownFields
  /** Pausing that the manifest asks for and the service has not; null when there is none. */
  readonly pausing: PlannedField | null
  /** Pointers in which the service differs from the manifest and that git leaves to others. */
  readonly left: readonly string[]
  /** The service as it is. */
  readonly live: CanonicalService
  /** Whether the service, without fingerprints of secrets and fields that git leaves to others, is what the manifest wants. */
  readonly alreadyThere: boolean
}

/**
 * Compares three ways: what the manifest wants with what we last sent, and what the service is with what
 * the API last answered. Whatever the server makes of a request is therefore no difference. Pure.
 *
 * Fingerprints of secrets belong to the key under which `binding` was written, and are compared under that one.
 */
export function diffOfBound(desired: DesiredService, binding: Binding, actual: ServiceResponse): ServiceDiff {
  if (!isApplied(binding)) return diffOfFirst(desired, actual, 'first-apply')
  const live = canonicalResponse(actual)
  const { isIgnored } = desired.policy
  const owned = (change: FieldChange): boolean => !isIgnored(change.pointer)
  const asked = binding.key === desired.key ? desired.canonical : desired.canonicalUnder(binding.key)
  const drift = changesBetween(binding.observed, live, 'by-fingerprint').filter(owned)
  const fromGit = changesBetween(binding.desired, asked, 'by-fingerprint').filter(owned)
  const driftAt = new Map(drift.map((change) => [change.pointer, change]))
  const gitAt = new Set(fromGit.map((change) => change.pointer))
  // Where neither side moved nothing is sent, and what would be missing is of no interest.
  const isClean = drift.length === 0 && fromGit.length === 0
  const missing = isClean ? [] : changesBetween(live, desired.canonical, 'set-is-equal')
  const wanted = fromGit.map((change) => wantedField(change, driftAt.get(change.pointer)))
  const drifted = drift.filter((change) => !gitAt.has(change.pointer)).map(driftedField)
  return {
    wanted,
    drifted,
    shown: isClean ? NOTHING : shownOf({ desired, binding, live, wanted, drifted }),
    left: missing.map(({ pointer }) => pointer).filter(isIgnored),
    live,
    pausing: pausingOf(desired, binding, actual),
    alreadyThere:
      missing.every((change) => !owned(change)) &&
      !fromGit.some(isSecretChange) &&
      !drift.some(isSecretChange),
  }
}

/** A binding of a service that something was sent for. */
type Applied = Binding & { readonly desired: CanonicalService; readonly observed: CanonicalService }

function isApplied(binding: Binding): binding is Applied {
  return binding.desired !== null && binding.observed !== null
}

function wantedField(change: FieldChange, drift?: FieldChange): PlannedField {
  const reason = isSecretChange(change) ? 'secret' : 'git'
  if (drift === undefined) return { ...change, reason }
  return { ...change, from: drift.to, reason, outside: { was: drift.from } }
}

function driftedField({ pointer, from, to }: FieldChange): PlannedField {
  return { pointer, from: to, to: from, reason: 'drift' }
}

interface Compared {
  readonly desired: DesiredService
  readonly binding: Applied
  readonly live: CanonicalService
  readonly wanted: readonly PlannedField[]
  readonly drifted: readonly PlannedField[]
}

const NOTHING: ShownFields = { wanted: [], drifted: [], outside: [] }

function shownOf(compared: Compared): ShownFields {
  const { desired, binding, live, wanted, drifted } = compared
  const owned = ({ pointer }: FieldChange): boolean => !desired.policy.isIgnored(pointer)
  const outside = alignedChanges(binding.observed, live, 'by-fingerprint').filter(owned).map(driftedField)
  const isMovedOutside = outside.some(isOfEndpoints)
  // Where both sides changed endpoints, places are all that they have in common: then they are shown by place.
  if (isMovedOutside === wanted.some(isOfEndpoints)) {
    const isNews = ({ from, to }: PlannedField): boolean => !sameJson(from ?? null, to ?? null)
    return { wanted: wanted.filter(isNews), drifted, outside }
  }
  if (isMovedOutside) {
    return { wanted, drifted: [...rest(drifted), ...outside.filter(isOfEndpoints)], outside }
  }
  const { fromOf } = alignEndpoints(binding.desired.endpoints, desired.canonical.endpoints)
  // The fingerprint of a secret belongs to its place: it would differ only because it moved.
  const asked = desired.canonicalUnder(binding.key, (endpoint) => fromOf[endpoint] ?? endpoint)
  const moved = alignedChanges(binding.desired, asked, 'by-fingerprint').filter(isOfEndpoints).filter(owned)
  return { wanted: [...rest(wanted), ...moved.map((change) => wantedField(change))], drifted, outside }
}

function isOfEndpoints({ pointer }: FieldChange): boolean {
  return pointer.startsWith('/endpoints')
}

function rest(fields: readonly PlannedField[]): readonly PlannedField[] {
  return fields.filter((field) => !isOfEndpoints(field))
}

/** Compares two ways, for a service of which nothing was remembered. Pure. */
export function diffOfFirst(
  desired: DesiredService,
  actual: ServiceResponse,
  reason: Extract<Reason, 'first-apply' | 'differs'>,
): ServiceDiff {
  const live = canonicalResponse(actual)
  const { isIgnored } = desired.policy
  const all = changesBetween(live, desired.canonical, 'set-is-equal')
  const fields = all.filter(({ pointer }) => !isIgnored(pointer)).map((change) => ({ ...change, reason }))
  // A secret that is set may be another one: the first apply sends it, so that afterwards it is known.
  const secrets = reason === 'first-apply' ? secretsOf(live, desired.canonical) : []
  const shown = alignedChanges(live, desired.canonical, 'set-is-equal')
    .filter(({ pointer }) => !isIgnored(pointer))
    .map((change) => ({ ...change, reason }))
  return {
    wanted: [...fields, ...secrets],
    drifted: [],
    shown: { wanted: [...shown, ...secrets], drifted: [], outside: [] },
    left: all.map(({ pointer }) => pointer).filter(isIgnored),
    live,
    pausing: pausingOf(desired, undefined, actual),
    alreadyThere: fields.length === 0 && secrets.length === 0,
  }
}

function secretsOf(live: CanonicalService, desired: CanonicalService): readonly PlannedField[] {
  const unequal = new Set(changesBetween(live, desired, 'set-is-equal').map((change) => change.pointer))
  return changesBetween(live, desired, 'by-fingerprint')
    .filter((change) => !unequal.has(change.pointer))
    .map((change) => ({ ...change, reason: 'first-apply' as const }))
}

function pausingOf(
  desired: DesiredService,
  binding: Binding | undefined,
  actual: ServiceResponse,
): PlannedField | null {
  // A service that was paused because its manifest went comes back running.
  const wanted = desired.paused ?? (binding != null && binding.tombstonedAtMs !== null ? false : undefined)
  const isPaused = actual.paused_at != null
  if (wanted === undefined || wanted === isPaused) return null
  const wasSo = binding !== undefined && binding.paused === wanted && binding.tombstonedAtMs === null
  const reason = wasSo ? 'drift' : 'git'
  return { pointer: '/paused', from: isPaused, to: wanted, reason }
}

/** Whether both sides are set and sealed, so that only what is sealed can differ. Pure. */
export function isSecretChange(change: FieldChange): boolean {
  return isSealed(change.from) && isSealed(change.to)
}

/** Whether `value` is the fingerprint of a secret. Pure. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sealed' in value
}

/** Whether `desired` needs less of a plan than `actual`: fewer endpoints or regions, or rarer checks. Pure. */
export function isShrinking(actual: CanonicalService, desired: CanonicalService): boolean {
  return (
    desired.endpoints.length < actual.endpoints.length ||
    desired.regions.length < actual.regions.length ||
    desired.interval_secs > actual.interval_secs
  )
}
