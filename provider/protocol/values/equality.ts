/** Structural equality of values, and the search for differences and unknown values. */
import { Decimal, equalNumbers } from './number.ts'
import { type ObjectTypes, type Type, visitType } from './type.ts'
import { isKnown, type ObjectValue, UNKNOWN, type Value } from './value.ts'

const isNumber = (value: Value): value is number | bigint | Decimal =>
  typeof value === 'number' || typeof value === 'bigint' || value instanceof Decimal

/**
 * Whether two values of `type` are equal: sets regardless of order and repetition, objects and maps regardless of key
 * order. Unknown equals unknown, null equals null, and neither equals any other value.
 *
 * Pure. A value that is not of `type` equals only itself.
 */
export function equalValues(type: Type, a: Value, b: Value): boolean {
  if (a === b) return true
  if (!isKnown(a) || !isKnown(b)) return false
  return visitType(type, {
    primitive: () => isNumber(a) && isNumber(b) && equalNumbers(a, b),
    list: (element) => equalLists(element, a, b),
    set: (element) => isArray(a) && isArray(b) && includesAll(element, a, b) && includesAll(element, b, a),
    map: (element) => equalMaps(element, a, b),
    object: (attributes) => isObject(a) && isObject(b) && equalObjects(attributes, a, b),
  })
}

/** Whether `value` is a list or set. `Array.isArray` alone does not narrow a readonly array. */
export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

/** Whether `value` is a map. */
export function isMap(value: Value | undefined): value is ReadonlyMap<string, Value> {
  return value instanceof Map
}

/** Whether `value` is an object with attributes. */
export function isObject(value: Value | undefined): value is ObjectValue {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Map) &&
    !(value instanceof Decimal)
  )
}

function equalLists(element: Type, a: Value, b: Value): boolean {
  if (!isArray(a) || !isArray(b) || a.length !== b.length) return false
  return a.every((item, index) => equalValues(element, item, b[index] ?? null))
}

function includesAll(element: Type, whole: readonly Value[], parts: readonly Value[]): boolean {
  // Sets of strings are the common case and may be long.
  const lookup = new Set<Value>(whole)
  return parts.every((part) => lookup.has(part) || whole.some((item) => equalValues(element, item, part)))
}

function equalMaps(element: Type, a: Value, b: Value): boolean {
  if (!isMap(a) || !isMap(b) || a.size !== b.size) return false
  for (const [key, item] of a) {
    const other = b.get(key)
    if (other === undefined || !equalValues(element, item, other)) return false
  }
  return true
}

function equalObjects(attributes: ObjectTypes, a: ObjectValue, b: ObjectValue): boolean {
  return Object.entries(attributes).every(([name, type]) =>
    equalValues(type, a[name] ?? null, b[name] ?? null),
  )
}

/** Whether `value` or anything inside it is unknown. */
export function containsUnknown(value: Value): boolean {
  if (value === UNKNOWN) return true
  if (isArray(value)) return value.some(containsUnknown)
  if (isMap(value)) return [...value.values()].some(containsUnknown)
  return isObject(value) && Object.values(value).some(containsUnknown)
}
