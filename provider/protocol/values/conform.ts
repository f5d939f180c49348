/** Converts a value of a handler, MessagePack or JSON to the canonical form of its type. */
import { isArray, isMap, isObject } from './equality.ts'
import { canonicalNumber, Decimal, numberFromText } from './number.ts'
import { formatPath, type Path } from './path.ts'
import { describeType, type ObjectTypes, type Type, visitType } from './type.ts'
import { type ObjectValue, UNKNOWN, type Value } from './value.ts'

/** A value that is not of its type. The message names the path and the type, never the value. */
export class ConformError extends Error {
  readonly path: Path

  constructor(path: Path, message: string) {
    super(`${formatPath(path) || 'the whole value'}: ${message}`)
    this.name = 'ConformError'
    this.path = path
  }
}

/**
 * How the attributes of an object are matched with its type:
 *
 * - `exact`: an unknown attribute is refused, a missing one is null;
 * - `stored`: an unknown attribute is dropped, because it may come from an older schema;
 * - `partial`: like `exact`, but a missing attribute remains missing, as in the result of a handler.
 */
export type Matching = 'exact' | 'stored' | 'partial'

/**
 * `given` as a value of `type`: strings in NFC, numbers canonical, attributes that an object lacks as null.
 *
 * A plain object is accepted for a map, and decimal text for a number.
 * Throws ConformError for anything that is not of the type.
 */
export function conform(type: Type, given: unknown, matching: Matching = 'exact', path: Path = []): Value {
  if (given === null || given === undefined) return null
  if (given === UNKNOWN) return UNKNOWN
  const refuse = (): never => {
    throw new ConformError(path, `expected ${describeType(type)}, found ${nameOf(given)}`)
  }
  const elements = (element: Type, step: (index: number) => Path): Value =>
    Array.isArray(given)
      ? given.map((item, index) => conform(element, item, matching, step(index)))
      : refuse()
  return visitType<Value>(type, {
    primitive: (name) => primitive(name, given) ?? refuse(),
    list: (element) => elements(element, (index) => [...path, index]),
    set: (element) => elements(element, () => path),
    map: (element) => conformMap(element, given, matching, path) ?? refuse(),
    object: (attributes) => conformObject(attributes, given, matching, path) ?? refuse(),
  })
}

function primitive(type: 'string' | 'number' | 'bool', given: unknown): Value {
  if (type === 'string') return typeof given === 'string' ? given.normalize('NFC') : null
  if (type === 'bool') return typeof given === 'boolean' ? given : null
  if (typeof given === 'string') return numberFromText(given) ?? null
  if (typeof given === 'number') return Number.isNaN(given) ? null : canonicalNumber(given)
  return typeof given === 'bigint' || given instanceof Decimal ? canonicalNumber(given) : null
}

function conformMap(element: Type, given: unknown, matching: Matching, path: Path): Value {
  const entries = entriesOf(given)
  if (entries === undefined) return null
  return new Map(
    entries.map(([key, item]) => [
      key.normalize('NFC'),
      conform(element, item, matching, [...path, { key }]),
    ]),
  )
}

function conformObject(attributes: ObjectTypes, given: unknown, matching: Matching, path: Path): Value {
  const entries = entriesOf(given)
  if (entries === undefined) return null
  const byName = new Map(entries)
  if (matching !== 'stored') {
    const surplus = [...byName.keys()].find((name) => !Object.hasOwn(attributes, name))
    if (surplus !== undefined) throw new ConformError([...path, surplus], 'the schema has no such attribute')
  }
  const wanted = Object.entries(attributes).filter(
    ([name]) => matching !== 'partial' || byName.get(name) !== undefined,
  )
  return Object.fromEntries(
    wanted.map(([name, type]) => [name, conform(type, byName.get(name), matching, [...path, name])]),
  )
}

function entriesOf(given: unknown): [string, unknown][] | undefined {
  if (given instanceof Map) return [...given]
  if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Decimal) {
    return undefined
  }
  return Object.entries(given)
}

function nameOf(given: unknown): string {
  if (Array.isArray(given)) return 'an array'
  if (given instanceof Map) return 'a map'
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`
}

/** `value` with every unknown replaced by null, for state that must be saved incomplete. */
export function withoutUnknown(value: ObjectValue): ObjectValue
export function withoutUnknown(value: Value): Value
export function withoutUnknown(value: Value): Value {
  if (value === UNKNOWN) return null
  if (isArray(value)) return value.map(withoutUnknown)
  if (isMap(value)) return new Map([...value].map(([key, item]) => [key, withoutUnknown(item)]))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutUnknown(item)]))
}
