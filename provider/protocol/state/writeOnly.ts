/** Write-only attributes: they reach handlers through the configuration and are null everywhere else. */
import { type Attributes, isNested } from '../authoring/schema.ts'
import { elementsOf, mapElements } from '../schema/elements.ts'
import type { Path } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'

/** `object` with every write-only attribute null, at any depth. */
export function withoutWriteOnly(attributes: Attributes, object: ObjectValue): ObjectValue {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const attribute = attributes[name]
      if (attribute === undefined) return [name, value]
      if (attribute.writeOnly) return [name, null]
      if (!isNested(attribute)) return [name, value]
      return [name, mapElements(attribute, value, (inner) => withoutWriteOnly(attribute.attributes, inner))]
    }),
  )
}

/** Paths of the write-only attributes that `object` sets, unknown ones included. */
export function writeOnlyPaths(
  attributes: Attributes,
  object: ObjectValue,
  path: Path = [],
): readonly Path[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = object[name] ?? null
    const here = [...path, name]
    if (attribute.writeOnly) return value === null ? [] : [here]
    if (!isNested(attribute)) return []
    return elementsOf(attribute, value).flatMap(({ object: inner, place }) =>
      writeOnlyPaths(attribute.attributes, inner, [...here, ...place.steps]),
    )
  })
}
