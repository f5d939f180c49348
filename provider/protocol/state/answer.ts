/** Converts the results of handlers to state. */
import type { Attributes } from '../authoring/schema.ts'
import { isNested, typeOf } from '../authoring/schema.ts'
import { mapElements } from '../schema/elements.ts'
import { ConformError, conform, withoutUnknown } from '../values/conform.ts'
import { containsUnknown, equalValues, isArray, isMap, isObject } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import { type ObjectValue, UNKNOWN, type Value } from '../values/value.ts'
import { meansTheSame } from './keepSpelling.ts'

/** A mistake in a handler's answer. `message` never contains a value. */
export interface Fault {
  readonly path: Path
  readonly message: string
}

export interface Settled {
  readonly state: ObjectValue
  readonly faults: readonly Fault[]
}

/**
 * The attributes of an answer that have the right type, and the faults of the others. With `matching` `partial`,
 * attributes that are missing in nested objects remain missing.
 */
export function readAnswer(attributes: Attributes, answer: object, matching: 'partial' | 'exact'): Settled {
  const faults: Fault[] = []
  const state: Record<string, Value> = {}
  for (const [name, given] of Object.entries(answer)) {
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

/** `answer` merged over `base`, including attributes of nested objects. */
export function overlay(attributes: Attributes, answer: ObjectValue, base: ObjectValue): ObjectValue {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      const given = answer[name]
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

/** `planned` with its unknown values taken from `answer`, or null where the answer omits them. */
function fill(planned: Value, answer: Value | undefined): Value {
  if (planned === UNKNOWN) return answer ?? null
  if (isArray(planned) && isArray(answer) && planned.length === answer.length) {
    return planned.map((item, index) => fill(item, answer[index]))
  }
  if (isMap(planned) && isMap(answer)) {
    return new Map([...planned].map(([key, item]) => [key, fill(item, answer.get(key))]))
  }
  if (isObject(planned) && isObject(answer)) {
    return Object.fromEntries(Object.entries(planned).map(([key, item]) => [key, fill(item, answer[key])]))
  }
  return planned
}

/** Whether the answer for attribute `name` equals its plan; attributes missing in nested objects count as equal. */
function agrees(attributes: Attributes, name: string, planned: Value, answer: Value): boolean {
  const attribute = attributes[name]
  if (attribute === undefined) return true
  if (equalValues(typeOf(attribute), planned, answer) || meansTheSame(attribute, planned, answer)) return true
  return isNested(attribute) && nestedAgrees(attribute.attributes, planned, answer)
}

function nestedAgrees(attributes: Attributes, planned: Value, answer: Value): boolean {
  if (isArray(planned) && isArray(answer)) {
    return (
      planned.length === answer.length &&
      planned.every((item, index) => nestedAgrees(attributes, item, answer[index] ?? null))
    )
  }
  if (isMap(planned) && isMap(answer)) {
    return (
      planned.size === answer.size &&
      [...planned].every(([key, item]) => nestedAgrees(attributes, item, answer.get(key) ?? null))
    )
  }
  if (!isObject(planned) || !isObject(answer)) return planned === answer
  return Object.entries(answer).every(([name, item]) => agrees(attributes, name, planned[name] ?? null, item))
}

/**
 * The state after a successful apply: the plan, with unknown values from `answer`.
 *
 * Terraform refuses a result that differs from the plan, and may then lose the object. So the planned value is saved
 * and the difference is reported; the next refresh shows the real value.
 */
export function settle(attributes: Attributes, planned: ObjectValue, answer: ObjectValue): Settled {
  const faults: Fault[] = []
  const state: Record<string, Value> = {}
  for (const [name, attribute] of Object.entries(attributes)) {
    const wanted = planned[name] ?? null
    const given = answer[name]
    const known = given === undefined ? undefined : withoutUnknown(given)
    const filled = fill(wanted, known)
    state[name] = withoutUnknown(filled)
    if (attribute.writeOnly) {
      if (known !== undefined && known !== null) faults.push({ path: [name], message: WRITE_ONLY })
    } else if (containsUnknown(filled) || (wanted === UNKNOWN && given === undefined)) {
      faults.push({ path: [name], message: 'is not known after apply; it is saved as null' })
    } else if (given !== undefined && containsUnknown(given)) {
      faults.push({ path: [name], message: 'is unknown in the answer; it is saved as null' })
    } else if (known !== undefined && wanted !== UNKNOWN && !agrees(attributes, name, filled, known)) {
      faults.push({ path: [name], message: 'differs from what was planned; it is saved as planned' })
    }
  }
  return { state, faults }
}

const WRITE_ONLY = 'is write-only, so its value is not saved'
