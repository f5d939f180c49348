/** Converts the results of handlers to state. */
import type { Attributes } from '../authoring/schema.ts'
import { isNested, typeOf } from '../authoring/schema.ts'
import { mapElements } from '../schema/elements.ts'
import { ConformError, conform, withoutUnknown } from '../values/conform.ts'
import { containsUnknown, equalValues, isArray, isMap, isObject } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import { type ObjectValue, UNKNOWN, type Value } from '../values/value.ts'
import { meansTheSame } from './keepSpelling.ts'

/** A mistake in a handler's result. `message` never contains a value. */
export interface Fault {
  readonly path: Path
  readonly message: string
}

export interface Settled {
  readonly state: ObjectValue
  readonly faults: readonly Fault[]
}

/**
 * The attributes of a result that have the right type, and the faults of the others. With `matching` `partial`,
 * attributes that are missing in nested objects remain missing.
 */
export function readResult(attributes: Attributes, result: object, matching: 'partial' | 'exact'): Settled {
  const faults: Fault[] = []
  const state: Record<string, Value> = {}
  for (const [name, given] of Object.entries(result)) {
    const attribute = attributes[name]
    if (given === undefined) continue
    if (attribute === undefined) {
      faults.push({ path: [name], message: 'the schema has no such attribute' })
      continue
    }
    try {
      state[name] = conform(typeOf(attribute), given, matching, [name])
    } catch (error) {
      if (!(error instanceof ConformError)) throw error
      faults.push({ path: error.path, message: error.message.slice(formatPath(error.path).length + 2) })
    }
  }
  return { state, faults }
}

/** `result` merged over `base`, including attributes of nested objects. */
export function overlay(attributes: Attributes, result: ObjectValue, base: ObjectValue): ObjectValue {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const given = result[name]
      const before = base[name] ?? null
      if (given === undefined) return [name, before]
      if (!isNested(attribute)) return [name, given]
      const merged = mapElements(attribute, given, (inner, place) =>
        overlay(attribute.attributes, inner, place.in(before) ?? {}),
      )
      return [name, merged]
    }),
  )
}

/** `planned` with its unknown values taken from `result`, or null where the result omits them. */
function fill(planned: Value, result: Value | undefined): Value {
  if (planned === UNKNOWN) return result ?? null
  if (isArray(planned) && isArray(result) && planned.length === result.length) {
    return planned.map((item, index) => fill(item, result[index]))
  }
  if (isMap(planned) && isMap(result)) {
    return new Map([...planned].map(([key, item]) => [key, fill(item, result.get(key))]))
  }
  if (isObject(planned) && isObject(result)) {
    return Object.fromEntries(Object.entries(planned).map(([key, item]) => [key, fill(item, result[key])]))
  }
  return planned
}

/** Whether the result for attribute `name` equals its plan; attributes missing in nested objects count as equal. */
function agrees(attributes: Attributes, name: string, planned: Value, result: Value): boolean {
  const attribute = attributes[name]
  if (attribute === undefined) return true
  if (equalValues(typeOf(attribute), planned, result) || meansTheSame(attribute, planned, result)) return true
  return isNested(attribute) && nestedAgrees(attribute.attributes, planned, result)
}

function nestedAgrees(attributes: Attributes, planned: Value, result: Value): boolean {
  if (isArray(planned) && isArray(result)) {
    return (
      planned.length === result.length &&
      planned.every((item, index) => nestedAgrees(attributes, item, result[index] ?? null))
    )
  }
  if (isMap(planned) && isMap(result)) {
    return (
      planned.size === result.size &&
      [...planned].every(([key, item]) => nestedAgrees(attributes, item, result.get(key) ?? null))
    )
  }
  if (!isObject(planned) || !isObject(result)) return planned === result
  return Object.entries(result).every(([name, item]) => agrees(attributes, name, planned[name] ?? null, item))
}

/**
 * The state after a successful apply: the plan, with unknown values from `result`.
 *
 * Terraform refuses a result that differs from the plan, and may then lose the object. So the planned value is saved
 * and the difference is reported; the next refresh shows the real value.
 */
export function settle(attributes: Attributes, planned: ObjectValue, result: ObjectValue): Settled {
  const faults: Fault[] = []
  const state: Record<string, Value> = {}
  for (const [name, attribute] of Object.entries(attributes)) {
    const wanted = planned[name] ?? null
    const given = result[name]
    const known = given === undefined ? undefined : withoutUnknown(given)
    const filled = fill(wanted, known)
    state[name] = withoutUnknown(filled)
    if (attribute.writeOnly) {
      if (known !== undefined && known !== null)
        faults.push({ path: [name], message: 'is write-only, so its value is not saved' })
    } else if (containsUnknown(filled) || (wanted === UNKNOWN && given === undefined)) {
      faults.push({ path: [name], message: 'is not known after apply; it is saved as null' })
    } else if (given !== undefined && containsUnknown(given)) {
      faults.push({ path: [name], message: 'is unknown in the result; it is saved as null' })
    } else if (known !== undefined && wanted !== UNKNOWN && !agrees(attributes, name, filled, known)) {
      faults.push({ path: [name], message: 'differs from what was planned; it is saved as planned' })
    }
  }
  return { state, faults }
}
