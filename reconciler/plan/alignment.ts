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

/** Pairs the items of two versions of a list, in which users insert, remove and move items. */
export interface Alignment {
  /** For each item of the new list, its index in the old list; undefined for a new item. */
  readonly fromOf: readonly (number | undefined)[]
  /** Indexes in the old list of the items that were removed. */
  readonly removed: readonly number[]
}

/** Pairs endpoints by name and URL, then by one of them, then by index. Pure. */
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
 * The changes of `changesBetween`, aligned for readers: an endpoint or an assertion whose index alone changed counts as
 * unchanged. Pointers refer to `to`; those of removed items refer to `from`. Pure.
 */
export function alignedChanges(
  from: CanonicalService,
  to: CanonicalService,
  sealed: SealedComparison,
): readonly FieldChange[] {
  const { fromOf, removed: removedIndexes } = alignEndpoints(from.endpoints, to.endpoints)
  const endpoints = to.endpoints.flatMap((endpoint, index) => {
    const before = from.endpoints[fromOf[index] ?? -1]
    const pointer = `/endpoints/${index}`
    return before === undefined
      ? [{ pointer, from: undefined, to: endpoint }]
      : endpointChanges(before, endpoint, pointer, sealed)
  })
  const removed = removedIndexes.map((index) => ({
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
  const { fromOf, removed: removedIndexes } = aligned(from, to, [
    sameJson,
    (a, b) => subjectOf(a) === subjectOf(b),
  ])
  const changed = to.flatMap((assertion, index) => {
    const before = from[fromOf[index] ?? -1]
    if (before !== undefined && sameJson(before, assertion)) return []
    return [{ pointer: `${pointer}/${index}`, from: before, to: assertion }]
  })
  const removed = removedIndexes.map((index) => ({
    pointer: `${pointer}/${index}`,
    from: from[index],
    to: undefined,
  }))
  return [...(isMoved(fromOf) ? [{ pointer, from, to }] : []), ...changed, ...removed]
}

/** The part of the response that an assertion tests. */
function subjectOf(assertion: Assertion): string {
  const { kind, subject } = assertionParts(assertion)
  return `${kind} ${subject}`
}

/** Whether the items common to both lists are in another order. */
function isMoved(fromOf: Alignment['fromOf']): boolean {
  const kept = fromOf.filter((index) => index !== undefined)
  return kept.some((index, at) => at > 0 && index < (kept[at - 1] ?? 0))
}

/** Pairs items by the first of `passes`, the remaining ones by the next, and the last ones by index. */
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
  return { fromOf, removed: [...left] }
}
