import type { AnyResource, Typed } from '../authoring/provider.ts'
import { isNested } from '../authoring/schema.ts'
import type { ObjectTypes, Type } from '../values/type.ts'
import type { ObjectValue } from '../values/value.ts'
import type { WireIdentity } from '../wire/messageParts.ts'
import { encodeValue } from './wireValue.ts'

/** The type of a resource's identity: the types of its identity attributes; `undefined` without an identity. Pure. */
export function identityTypes({ handlers }: Typed<AnyResource<unknown>>): ObjectTypes | undefined {
  const { identity, schema } = handlers
  if (identity === undefined) return undefined
  const types: Record<string, Type> = {}
  for (const name of identity) {
    const attribute = schema.attributes[name]
    if (attribute !== undefined && !isNested(attribute)) types[name] = attribute.type
  }
  return types
}

/** The identity of the object in `state`, as a field of a response; no field without an object or an identity. */
export function identityOf(
  resource: Typed<AnyResource<unknown>>,
  state: ObjectValue | null,
): WireIdentity | undefined {
  const types = identityTypes(resource)
  if (types === undefined || state === null) return undefined
  const identity: ObjectValue = Object.fromEntries(
    Object.keys(types).map((name) => [name, state[name] ?? null]),
  )
  return { data: encodeValue({ object: types }, identity) }
}
