import { MANIFEST_DEPTH_MAX } from '../manifestLimits.ts'

/** Most values that a document may have once its aliases are written out. */
const EXPANDED_VALUES_MAX = 100_000

interface Extent {
  readonly values: number
  readonly depth: number
}

/**
 * Why `value`, in which aliases may have made one object stand in several places, cannot be used; `undefined`
 * when it can. Looks at each object once, so that a document which would grow without end is found quickly. Pure.
 */
export function expansionProblem(value: unknown): string | undefined {
  const known = new Map<object, Extent | 'open'>()
  const extentOf = (inner: unknown): Extent | undefined => {
    if (typeof inner !== 'object' || inner === null) return { values: 1, depth: 0 }
    const before = known.get(inner)
    if (before !== undefined) return before === 'open' ? undefined : before
    known.set(inner, 'open')
    let values = 1
    let depth = 0
    for (const child of Object.values(inner)) {
      const extent = extentOf(child)
      if (extent === undefined) return undefined
      values = Math.min(values + extent.values, EXPANDED_VALUES_MAX + 1)
      depth = Math.max(depth, extent.depth)
    }
    const extent = { values, depth: depth + 1 }
    known.set(inner, extent)
    return extent
  }
  const extent = extentOf(value)
  if (extent === undefined) return 'an alias stands inside what it stands for'
  if (extent.values > EXPANDED_VALUES_MAX) return `aliases make more than ${EXPANDED_VALUES_MAX} values of it`
  if (extent.depth > MANIFEST_DEPTH_MAX) return `aliases make it deeper than ${MANIFEST_DEPTH_MAX} levels`
  return undefined
}
