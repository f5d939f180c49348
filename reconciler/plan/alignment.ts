import { assertionParts } from '../../api/contract/assertion.ts'
import type { CanonicalEndpoint, CanonicalService } from '../../api/contract/canonical.ts'
import {
  changesBetween,
  type FieldChange,
  type SealedComparison,
  sameJson,
} from '../../api/contract/fieldChange.ts'

type Assertion = CanonicalEndpoint['assertions'][number]
type IsSame<Item> = (from: Item, to: Item) => boolean

/** Which items of one list are those of another: people insert, remove and move them. */
export interface Alignment {
  /** For each item of the new list the index that it had in the old one; undefined for one that is new. */
  readonly fromOf: readonly (number | undefined)[]
  /** Indexes of the old list whose items are gone. */
  readonly gone: readonly number[]
}

/** Endpoints by name and url, then by either of them, then by their place. Pure. */
export function alignEndpoints(
  from: readonly CanonicalEndpoint[],
  to: readonly CanonicalEndpoint[],
): Alignment {
  return aligned(from, to, [
    (a, b) => a.name === b.name && a.url === b.url,
    (a, b) => a.name !== null && a.name === b.name,
    (a, b) => a.url === b.url,
  ])
}

/**
 * The same as `changesBetween`, shown as people read it: an endpoint or an assertion that only moved because
 * something was put before it has not changed. Pointers lead to where things are in `to`, of what is gone to where
 * it was in `from`. Pure.
 */
export function alignedChanges(
  from: CanonicalService,
  to: CanonicalService,
  sealed: SealedComparison,
): readonly FieldChange[] {
  const { fromOf, gone } = alignEndpoints(from.endpoints, to.endpoints)
  const endpoints = to.endpoints.flatMap((endpoint, index) => {
    const before = from.endpoints[fromOf[index] ?? -1]
    const pointer = `/endpoints/${index}`
    return before === undefined
      ? [{ pointer, from: undefined, to: endpoint }]
      : endpointChanges(before, endpoint, pointer, sealed)
  })
  const removed = gone.map((index) => ({
    pointer: `/endpoints/${index}`,
    from: from.endpoints[index],
    to: undefined,
  }))
  const order = isMoved(fromOf)
    ? [{ pointer: '/endpoints', from: from.endpoints.map(nameOf), to: to.endpoints.map(nameOf) }]
    : []
  return [
    ...changesBetween({ ...from, endpoints: [] }, { ...to, endpoints: [] }, sealed),
    ...order,
    ...endpoints,
    ...removed,
  ]
}

function nameOf({ name, url }: CanonicalEndpoint): string {
  return name ?? url
}

function endpointChanges(
  from: CanonicalEndpoint,
  to: CanonicalEndpoint,
  pointer: string,
  sealed: SealedComparison,
): readonly FieldChange[] {
  const alone = (endpoint: CanonicalEndpoint): CanonicalService => ({
    name: '',
    interval_secs: 0,
    regions: [],
    endpoints: [{ ...endpoint, assertions: [] }],
  })
  return [
    ...changesBetween(alone(from), alone(to), sealed).map((change) => ({
      ...change,
      pointer: `${pointer}${change.pointer.slice('/endpoints/0'.length)}`,
    })),
    ...assertionChanges(from.assertions, to.assertions, `${pointer}/assertions`),
  ]
}

function assertionChanges(
  from: readonly Assertion[],
  to: readonly Assertion[],
  pointer: string,
): readonly FieldChange[] {
  const { fromOf, gone } = aligned(from, to, [sameJson, (a, b) => subjectOf(a) === subjectOf(b)])
  const changed = to.flatMap((assertion, index) => {
    const before = from[fromOf[index] ?? -1]
    if (before !== undefined && sameJson(before, assertion)) return []
    return [{ pointer: `${pointer}/${index}`, from: before, to: assertion }]
  })
  const removed = gone.map((index) => ({ pointer: `${pointer}/${index}`, from: from[index], to: undefined }))
  return [...(isMoved(fromOf) ? [{ pointer, from, to }] : []), ...changed, ...removed]
}

/** What an assertion is about. */
function subjectOf(assertion: Assertion): string {
  const { kind, subject } = assertionParts(assertion)
  return `${kind} ${subject}`
}

/** Whether what both lists have is in another order. */
function isMoved(fromOf: Alignment['fromOf']): boolean {
  const kept = fromOf.filter((index) => index !== undefined)
  return kept.some((index, at) => at > 0 && index < (kept[at - 1] ?? 0))
}

/** Pairs what is the same by the first of `passes`, what is left by the next, and at last what has the same place. */
function aligned<Item>(
  from: readonly Item[],
  to: readonly Item[],
  passes: readonly IsSame<Item>[],
): Alignment {
  const fromOf: (number | undefined)[] = to.map(() => undefined)
  const left = new Set(from.keys())
  const pair = (at: number, index: number | undefined): void => {
    if (index === undefined || !left.delete(index)) return
    fromOf[at] = index
  }
  for (const isSame of passes) {
    for (const [at, item] of to.entries()) {
      if (fromOf[at] !== undefined) continue
      const fits = (index: number): boolean => {
        const other = from[index]
        return other !== undefined && left.has(index) && isSame(other, item)
      }
      pair(at, fits(at) ? at : [...left].find(fits))
    }
  }
  for (const at of to.keys()) if (fromOf[at] === undefined) pair(at, at)
  return { fromOf, gone: [...left] }
}
