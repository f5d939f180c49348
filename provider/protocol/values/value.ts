/**
 * The values that travel between Terraform and a provider.
 *
 * A value is interpreted together with its type (type.ts), which distinguishes a list from a set. Three states are distinct:
 *
 * - null: `null`, the value of an argument that is not set, and of a whole object that does not exist;
 * - unknown: the symbol `UNKNOWN`, a value that Terraform will know only after apply;
 * - absent: JavaScript's `undefined`, which is never a value. A decoded object always has every attribute.
 */
import type { NumberValue } from './number.ts'

/** A value that is not known yet. Only configuration and plans contain it, never state. */
export const UNKNOWN: unique symbol = Symbol('unknown')
export type Unknown = typeof UNKNOWN

/** Attributes by name. */
export interface ObjectValue {
  readonly [attribute: string]: Value
}

/** List and set are arrays (the order of a set has no meaning), map is a Map, object is a plain object. */
export type Value =
  | null
  | Unknown
  | string
  | boolean
  | NumberValue
  | readonly Value[]
  | ReadonlyMap<string, Value>
  | ObjectValue

/** Whether `value` is neither null nor unknown itself. It may contain unknown values. */
export function isKnown(value: Value): value is Exclude<Value, null | Unknown> {
  return value !== null && value !== UNKNOWN
}

/** Whether `value` itself is unknown. Narrows, as `value === UNKNOWN` does. */
export function isUnknown(value: unknown): value is Unknown {
  return value === UNKNOWN
}
