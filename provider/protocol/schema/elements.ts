/** The objects in the value of a nested attribute, with their places. */

import type { NestedAttribute } from '../authoring/schema.ts'
import { isArray, isMap, isObject } from '../values/equality.ts'
import type { Path } from '../values/path.ts'
import type { ObjectValue, Value } from '../values/value.ts'

/** The place of an object in a nested attribute. */
export interface Place {
  /** Steps from the attribute to the object; empty inside a set, whose elements have no path. */
  readonly steps: Path
  /**
   * The object at the same index or key in another value of the attribute. `undefined` when there is none, and always
   * inside a set.
   */
  in(other: Value | undefined): ObjectValue | undefined
}

const objectOr = (value: Value | undefined): ObjectValue | undefined => (isObject(value) ? value : undefined)

function atIndex(index: number): Place {
  return { steps: [index], in: (other) => (isArray(other) ? objectOr(other[index]) : undefined) }
}

function atKey(key: string): Place {
  return { steps: [{ key }], in: (other) => (isMap(other) ? objectOr(other.get(key)) : undefined) }
}

const ITSELF: Place = { steps: [], in: objectOr }
const IN_SET: Place = { steps: [], in: () => undefined }

/**
 * `value` of `attribute` with every object in it replaced by `change`. Null and unknown values are kept.
 *
 * Pure if `change` is.
 */
export function mapElements(
  attribute: NestedAttribute,
  value: Value,
  change: (object: ObjectValue, place: Place) => Value,
): Value {
  const changed = (item: Value, place: Place): Value => (isObject(item) ? change(item, place) : item)
  switch (attribute.nesting) {
    case 'single':
      return changed(value, ITSELF)
    case 'list':
      return isArray(value) ? value.map((item, index) => changed(item, atIndex(index))) : value
    case 'set':
      return isArray(value) ? value.map((item) => changed(item, IN_SET)) : value
    case 'map':
      if (!isMap(value)) return value
      return new Map([...value].map(([key, item]) => [key, changed(item, atKey(key))]))
  }
}

/** Every object inside `value` with its place, in order. */
export function elementsOf(
  attribute: NestedAttribute,
  value: Value,
): readonly { readonly object: ObjectValue; readonly place: Place }[] {
  const found: { object: ObjectValue; place: Place }[] = []
  mapElements(attribute, value, (object, place) => {
    found.push({ object, place })
    return object
  })
  return found
}
