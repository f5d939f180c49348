import { type CanonicalService, canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween, type FieldChange, sameJson } from '../../api/contract/fieldChange.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { alignEndpoints, alignedChanges } from './alignment.ts'
import type { Binding } from './binding.ts'
import type { DesiredService } from './desiredService.ts'
import type { PlannedField, Reason } from './planValue.ts'

/** Changes aligned for readers: endpoints and assertions that only moved are left out. */
export interface ShownFields {
  readonly wanted: readonly PlannedField[]
  readonly drifted: readonly PlannedField[]
  /** All manual changes, whether or not the manifest changed the field as well. */
  readonly outside: readonly PlannedField[]
}

/** How a service differs from its manifest, and from what the API last returned for it. */
export interface ServiceDiff {
  /** Fields that the manifest changes. */
  readonly wanted: readonly PlannedField[]
  /** Fields changed by hand since the last apply, towards their applied values. */
  readonly drifted: readonly PlannedField[]
  readonly shown: ShownFields
  /** The change of `paused` that the manifest needs; null for none. */
  readonly pausing: PlannedField | null
  /** Pointers in which the service differs from the manifest and that `policy.ignore` covers. */
  readonly ignored: readonly string[]
  readonly live: CanonicalService
  /** Whether the service matches the manifest, apart from fingerprints of secrets and ignored fields. */
  readonly matchesManifest: boolean
}

/**
 * Three-way comparison: the manifest with the last request, and the service with the API's last response. A
 * normalisation by the server is therefore no difference. Pure.
 *
 * Fingerprints of secrets are compared under the key with which `binding` was written.
 */
export function diffOfBound(desired: DesiredService, binding: Binding, actual: ServiceResponse): ServiceDiff {
  if (!isApplied(binding)) return diffOfFirst(desired, actual, 'first-apply')
  const live = canonicalResponse(actual)
  const { isIgnored } = desired.policy
  const owned = (change: FieldChange): boolean => !isIgnored(change.pointer)
  const requested = binding.key === desired.key ? desired.canonical : desired.canonicalUnder(binding.key)
  const drift = changesBetween(binding.observed, live, 'by-fingerprint').filter(owned)
  const fromGit = changesBetween(binding.desired, requested, 'by-fingerprint').filter(owned)
  const driftAt = new Map(drift.map((change) => [change.pointer, change]))
  const gitAt = new Set(fromGit.map((change) => change.pointer))
  // Without a change on either side nothing is sent, so nothing else has to be compared.
  const isClean = drift.length === 0 && fromGit.length === 0
  const missing = isClean ? [] : changesBetween(live, desired.canonical, 'set-is-equal')
  const wanted = fromGit.map((change) => wantedField(change, driftAt.get(change.pointer)))
  const drifted = drift.filter((change) => !gitAt.has(change.pointer)).map(driftedField)
  return {
    wanted,
    drifted,
    shown: isClean ? NOTHING : shownOf({ desired, binding, live, wanted, drifted }),
    ignored: missing.map(({ pointer }) => pointer).filter(isIgnored),
    live,
    pausing: pausingOf(desired, binding, actual),
    matchesManifest:
      missing.every((change) => !owned(change)) &&
      !fromGit.some(isSecretChange) &&
      !drift.some(isSecretChange),
  }
}

/** A binding of a service that was applied. */
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
  // If both sides changed endpoints, only indexes can align them: the fields are shown by index.
  if (isMovedOutside === wanted.some(isOfEndpoints)) {
    const isChanged = ({ from, to }: PlannedField): boolean => !sameJson(from ?? null, to ?? null)
    return { wanted: wanted.filter(isChanged), drifted, outside }
  }
  if (isMovedOutside) {
    return { wanted, drifted: [...rest(drifted), ...outside.filter(isOfEndpoints)], outside }
  }
  const { fromOf } = alignEndpoints(binding.desired.endpoints, desired.canonical.endpoints)
  // The fingerprint of a secret depends on its index: it would differ only because the endpoint moved.
  const requested = desired.canonicalUnder(binding.key, (endpoint) => fromOf[endpoint] ?? endpoint)
  const moved = alignedChanges(binding.desired, requested, 'by-fingerprint')
    .filter(isOfEndpoints)
    .filter(owned)
  return { wanted: [...rest(wanted), ...moved.map((change) => wantedField(change))], drifted, outside }
}

function isOfEndpoints({ pointer }: FieldChange): boolean {
  return pointer.startsWith('/endpoints')
}

function rest(fields: readonly PlannedField[]): readonly PlannedField[] {
  return fields.filter((field) => !isOfEndpoints(field))
}

/** Two-way comparison, for a service without a record of the last apply. Pure. */
export function diffOfFirst(
  desired: DesiredService,
  actual: ServiceResponse,
  reason: Extract<Reason, 'first-apply' | 'differs'>,
): ServiceDiff {
  const live = canonicalResponse(actual)
  const { isIgnored } = desired.policy
  const all = changesBetween(live, desired.canonical, 'set-is-equal')
  const fields = all.filter(({ pointer }) => !isIgnored(pointer)).map((change) => ({ ...change, reason }))
  // The service may have another secret: the first apply sends it, so that it is known afterwards.
  const secrets = reason === 'first-apply' ? secretsOf(live, desired.canonical) : []
  const shown = alignedChanges(live, desired.canonical, 'set-is-equal')
    .filter(({ pointer }) => !isIgnored(pointer))
    .map((change) => ({ ...change, reason }))
  return {
    wanted: [...fields, ...secrets],
    drifted: [],
    shown: { wanted: [...shown, ...secrets], drifted: [], outside: [] },
    ignored: all.map(({ pointer }) => pointer).filter(isIgnored),
    live,
    pausing: pausingOf(desired, undefined, actual),
    matchesManifest: fields.length === 0 && secrets.length === 0,
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
  // A service that was paused because its manifest was removed is resumed with its manifest.
  const wanted = desired.paused ?? (binding != null && binding.tombstonedAtMs !== null ? false : undefined)
  const isPaused = actual.paused_at != null
  if (wanted === undefined || wanted === isPaused) return null
  const wasSo = binding !== undefined && binding.paused === wanted && binding.tombstonedAtMs === null
  const reason = wasSo ? 'drift' : 'git'
  return { pointer: '/paused', from: isPaused, to: wanted, reason }
}

/** Whether both sides are sealed, so that only the secret can differ. Pure. */
export function isSecretChange(change: FieldChange): boolean {
  return isSealed(change.from) && isSealed(change.to)
}

/** Whether `value` is the fingerprint of a secret. Pure. */
export function isSealed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sealed' in value
}

/** Whether `desired` uses less quota than `actual`: fewer endpoints or regions, or rarer checks. Pure. */
export function isShrinking(actual: CanonicalService, desired: CanonicalService): boolean {
  return (
    desired.endpoints.length < actual.endpoints.length ||
    desired.regions.length < actual.regions.length ||
    desired.interval_secs > actual.interval_secs
  )
}
