import * as z from 'zod'
import { type Problem, problemsOf } from '../../../api/contract/problem.ts'
import type { Slices } from '../transport/slices.ts'

/** The output of a schema for a value, or the first problem of the value. */
export type Read = { readonly value: unknown } | { readonly problem: Problem }

type Schema = z.core.$ZodType
type Reading = Generator<void, Read>

/** More elements than any rule of the contract allows, so a longer array need not be counted further. */
const COUNTED_MAX = 1_000

/**
 * Parses `value` like `schema`, in the same order, but in slices and only up to the first problem. The schema itself
 * would find all problems, which takes seconds for a body full of empty strings. The parts of `schema` come from its
 * definition; a part of an unknown kind is parsed whole.
 */
export function* readInSlices(schema: Schema, value: unknown, slices: Slices): Reading {
  if (slices.spend(typeof value === 'string' ? value.length : 0)) yield
  // True because every schema that zod makes is one of these.
  const { def } = schema._zod as z.core.$ZodTypes['_zod']
  switch (def.type) {
    case 'optional':
      return value === undefined ? { value } : yield* readInSlices(def.innerType, value, slices)
    case 'nullable':
      return value === null ? { value } : yield* readInSlices(def.innerType, value, slices)
    case 'array':
      return Array.isArray(value) ? yield* readArray(schema, def, value, slices) : readWhole(schema, value)
    case 'object': {
      // An object that has rules of its own, or drops unknown members, is small, such as a duration or a sensitive
      // value.
      const isPlain = (def.checks ?? []).length === 0 && def.catchall === undefined
      return isPlain && isObject(value)
        ? yield* readObject(def.shape, value, slices)
        : readWhole(schema, value)
    }
    case 'union':
      return isObject(value)
        ? yield* readTagged(schema, def.options, value, slices)
        : readWhole(schema, value)
    default:
      return readWhole(schema, value)
  }
}

function readWhole(schema: Schema, value: unknown): Read {
  const parsed = z.safeParse(schema, value)
  if (parsed.success) return { value: parsed.data }
  return { problem: problemsOf(parsed.error)[0] ?? { path: [], message: 'is not valid' } }
}

function below(step: string | number, { path, message }: Problem): Read {
  return { problem: { path: [step, ...path], message } }
}

function* readObject(
  shape: z.core.$ZodShape,
  value: Readonly<Record<string, unknown>>,
  slices: Slices,
): Reading {
  const read: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(shape)) {
    const member = yield* readInSlices(schema, value[name], slices)
    if ('problem' in member) return below(name, member.problem)
    if (Object.hasOwn(value, name)) read[name] = member.value
  }
  return { value: read }
}

function* readArray(
  schema: Schema,
  def: z.core.$ZodArrayDef,
  value: readonly unknown[],
  slices: Slices,
): Reading {
  const { ofLength, ofElements } = rulesOf(schema, def)
  const counted = readWhole(ofLength, value.slice(0, COUNTED_MAX))
  if ('problem' in counted) return counted
  const read: unknown[] = []
  for (const [index, element] of value.entries()) {
    const item = yield* readInSlices(def.element, element, slices)
    if ('problem' in item) return below(index, item.problem)
    read.push(item.value)
  }
  const compared = readWhole(ofElements, read.slice(0, COUNTED_MAX))
  return 'problem' in compared ? compared : { value: read }
}

/** The rules of an array other than those for each element. Its length is checked first. */
interface ArrayRules {
  readonly ofLength: Schema
  readonly ofElements: Schema
}

const arrayRules = new WeakMap<Schema, ArrayRules>()

function rulesOf(schema: Schema, def: z.core.$ZodArrayDef): ArrayRules {
  const known = arrayRules.get(schema)
  if (known !== undefined) return known
  // True because these are rules of an array, whatever its elements are.
  const checks = (def.checks ?? []) as z.core.$ZodCheck<unknown[]>[]
  const isOfLength = ({ _zod }: z.core.$ZodCheck<unknown[]>) => /_length$|^length_/.test(_zod.def.check)
  const rules = {
    ofLength: z.array(z.any()).check(...checks.filter(isOfLength)),
    ofElements: z.array(z.any()).check(...checks.filter((check) => !isOfLength(check))),
  }
  arrayRules.set(schema, rules)
  return rules
}

/**
 * Reads a tagged object: the payload of its one key, or the problem that the union reports for an object without a
 * known key.
 */
function* readTagged(
  union: Schema,
  options: readonly Schema[],
  value: Readonly<Record<string, unknown>>,
  slices: Slices,
): Reading {
  const tags = tagsOf(union, options)
  if (tags === undefined) return readWhole(union, value)
  const names = namesOf(value)
  const known = [...tags].filter(([tag]) => Object.hasOwn(value, tag))
  const fitting: string[] = []
  for (const [tag, payload] of known) {
    const read = yield* readInSlices(payload, value[tag], slices)
    if (!('problem' in read)) fitting.push(tag)
    if (names.length > 1) continue
    return 'problem' in read ? below(tag, read.problem) : { value: { [tag]: read.value } }
  }
  const [only] = fitting
  const other = fitting.length === 1 ? names.find((name) => name !== only) : undefined
  // A valid value with a second key is refused because of that key, as the union does.
  if (other !== undefined) return { problem: { path: [other], message: 'is not a known field' } }
  return readWhole(union, {})
}

/** At most two names, which suffice to know that there are several. */
function namesOf(value: object): readonly string[] {
  const names: string[] = []
  for (const name in value) {
    names.push(name)
    if (names.length === 2) break
  }
  return names
}

const tagsOfUnion = new WeakMap<Schema, ReadonlyMap<string, Schema> | undefined>()

/** The payload schema of each tag; `undefined` for a union of anything other than objects with one key each. */
function tagsOf(union: Schema, options: readonly Schema[]): ReadonlyMap<string, Schema> | undefined {
  if (tagsOfUnion.has(union)) return tagsOfUnion.get(union)
  const shapes = options.map((option) => {
    // True because every schema that zod makes is one of these.
    const { def } = option._zod as z.core.$ZodTypes['_zod']
    return def.type === 'object' && def.catchall !== undefined ? Object.entries(def.shape) : []
  })
  const tags = shapes.every(({ length }) => length === 1) ? new Map(shapes.flat()) : undefined
  tagsOfUnion.set(union, tags)
  return tags
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
