/** The steps that turn Terraform's proposal into a plan that Terraform accepts. */
import { type Attributes, isNested, typeOf } from '../authoring/schema.ts'
import { elementsOf, mapElements } from '../schema/elements.ts'
import { equalValues } from '../values/equality.ts'
import type { Path } from '../values/path.ts'
import { isKnown, type ObjectValue, UNKNOWN } from '../values/value.ts'

/** The other known values of an object when its computed attributes are planned. */
export interface Sources {
  readonly config: ObjectValue
  /** `undefined` for an object that does not exist yet. */
  readonly prior?: ObjectValue | undefined
}

/**
 * `planned`, with every computed attribute that the configuration does not set made unknown, except stable ones with a
 * value in the prior state. Call it only when something else changes, so that a plan without changes stays empty.
 */
export function markComputed(attributes: Attributes, planned: ObjectValue, sources: Sources): ObjectValue {
  return Object.fromEntries(
    Object.entries(planned).map(([name, value]) => {
      const attribute = attributes[name]
      if (attribute === undefined) return [name, value]
      const configured = sources.config[name] ?? null
      const before = sources.prior?.[name] ?? null
      if (attribute.computed && configured === null) {
        return [name, attribute.stable && before !== null ? before : UNKNOWN]
      }
      if (!isNested(attribute) || !isKnown(configured)) return [name, value]
      const inner = mapElements(attribute, value, (object, place) => {
        const config = place.in(configured)
        if (config === undefined) return object
        return markComputed(attribute.attributes, object, { config, prior: place.in(before) })
      })
      return [name, inner]
    }),
  )
}

/** Paths of the attributes whose change replaces the resource. An added element counts as changed from null. */
export function replacingPaths(
  attributes: Attributes,
  planned: ObjectValue,
  prior: ObjectValue,
  path: Path = [],
): readonly Path[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = planned[name] ?? null
    const before = prior[name] ?? null
    const here = [...path, name]
    if (equalValues(typeOf(attribute), value, before)) return []
    if (attribute.requiresReplace) return [here]
    if (!isNested(attribute) || attribute.nesting === 'set') return []
    return elementsOf(attribute, value).flatMap(({ object, place }) =>
      replacingPaths(attribute.attributes, object, place.in(before) ?? {}, [...here, ...place.steps]),
    )
  })
}
