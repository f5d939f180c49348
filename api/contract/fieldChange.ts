import {
  type CanonicalService,
  canonicalRequest,
  canonicalResponse,
  UNKNOWN_FINGERPRINT,
} from './canonical.ts'
import { formatPointer } from './problem.ts'
import type { ServiceRequest, ServiceResponse } from './service.ts'

/** A canonical leaf: text, number, flag, duration, assertion, list of regions, or a whole endpoint. */
export type Leaf = unknown

/**
 * One field that differs. `pointer` is a JSON pointer into the canonical service; `from` and `to` are canonical leaves,
 * `undefined` where the field is absent. A secret is only ever its fingerprint.
 */
export interface FieldChange {
  readonly pointer: string
  readonly from: Leaf
  readonly to: Leaf
}

/**
 * How two sealed values compare: by their fingerprints, or always as equal because the API only shows that one is set. An
 * unknown fingerprint is equal to any.
 */
export type SealedComparison = 'by-fingerprint' | 'set-is-equal'

/**
 * Fields in which `to` differs from `from`, in contract order; empty when none. Endpoints and assertions
 * are compared by position, an assertion as one leaf. Pure.
 */
export function changesBetween(
  from: CanonicalService,
  to: CanonicalService,
  sealed: SealedComparison,
): readonly FieldChange[] {
  return changes(from, to, '', sealed)
}

/**
 * Fields in which `actual` differs from what `desired` would make it, in contract order; empty when none.
 *
 * A sealed value counts as equal to any sensitive one: the API returns only that one is set (Contract:
 * Sensitive values). Absent and `null` are equal, because a full replace resets both (Contract: Rules, 1).
 * Pure. Throws nothing.
 */
export function diffService(desired: ServiceRequest, actual: ServiceResponse): readonly FieldChange[] {
  const wanted = canonicalRequest(desired, () => 'set')
  return changesBetween(canonicalResponse(actual), wanted, 'set-is-equal')
}

function changes(from: Leaf, to: Leaf, pointer: string, sealed: SealedComparison): readonly FieldChange[] {
  if (!isContainer(from, pointer) || !isContainer(to, pointer)) {
    return leavesEqual(from, to, sealed) ? [] : [{ pointer, from, to }]
  }
  if (sameJson(from, to)) return []
  const keys = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...keys].flatMap((key) =>
    changes(valueAt(from, key), valueAt(to, key), `${pointer}${formatPointer([key])}`, sealed),
  )
}

type Container = Readonly<Record<string, unknown>>

function valueAt(container: Container, key: string): unknown {
  return Object.hasOwn(container, key) ? container[key] : undefined
}

const ASSERTION = /\/assertions\/\d+$/

/** Whether the walk goes into `value`; arrays are walked by their indexes. */
function isContainer(value: unknown, pointer: string): value is Container {
  if (typeof value !== 'object' || value === null) return false
  if (pointer === '/regions' || pointer.endsWith('/timeout') || ASSERTION.test(pointer)) return false
  return !Object.hasOwn(value, 'sealed') && !Object.hasOwn(value, 'plain')
}

function leavesEqual(a: Leaf, b: Leaf, sealed: SealedComparison): boolean {
  if (!isSealed(a) || !isSealed(b)) return sameJson(a, b)
  switch (sealed) {
    case 'set-is-equal':
      return true
    case 'by-fingerprint':
      return [a.sealed, b.sealed].includes(UNKNOWN_FINGERPRINT) || a.sealed === b.sealed
  }
}

function isSealed(value: Leaf): value is { readonly sealed: unknown } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'sealed')
}

/**
 * Whether two JSON values are equal, whatever the order of their keys. Pure. Allocates nothing: most compared values
 * are equal, ten thousand services at a time.
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((value, index) => sameJson(value, b[index]))
  }
  return isObject(a) && isObject(b) && !Array.isArray(b) && sameFields(a, b)
}

function sameFields(a: Container, b: Container): boolean {
  let more = 0
  for (const key in a) {
    if (!Object.hasOwn(a, key)) continue
    if (!Object.hasOwn(b, key) || !sameJson(a[key], b[key])) return false
    more += 1
  }
  for (const key in b) if (Object.hasOwn(b, key)) more -= 1
  return more === 0
}

function isObject(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
