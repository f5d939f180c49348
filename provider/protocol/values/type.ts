/** The types of values, in the notations of authors and Terraform. */

/**
 * A type: `'string'`, `{ list: 'string' }`, `{ map: { object: { name: 'string' } } }`.
 *
 * Terraform's `dynamic` and tuples are not supported, so their values cannot be decoded wrongly.
 */
export type Type =
  | 'string'
  | 'number'
  | 'bool'
  | { readonly list: Type }
  | { readonly set: Type }
  | { readonly map: Type }
  | { readonly object: ObjectTypes }

/** Types of an object's attributes by name. */
export interface ObjectTypes {
  readonly [attribute: string]: Type
}

/** The functions of `visitType` for each kind of type. */
export interface TypeVisitor<T> {
  primitive(type: 'string' | 'number' | 'bool'): T
  list(element: Type): T
  set(element: Type): T
  map(element: Type): T
  object(attributes: ObjectTypes): T
}

/** Calls the function of `visitor` for `type`. */
export function visitType<T>(type: Type, visitor: TypeVisitor<T>): T {
  if (typeof type === 'string') return visitor.primitive(type)
  if ('list' in type) return visitor.list(type.list)
  if ('set' in type) return visitor.set(type.set)
  if ('map' in type) return visitor.map(type.map)
  return visitor.object(type.object)
}

type TypeJson = string | readonly [string, TypeJson | { readonly [name: string]: TypeJson }]

function typeToJson(type: Type): TypeJson {
  return visitType<TypeJson>(type, {
    primitive: (name) => name,
    list: (element) => ['list', typeToJson(element)],
    set: (element) => ['set', typeToJson(element)],
    map: (element) => ['map', typeToJson(element)],
    object: (attributes) => [
      'object',
      Object.fromEntries(Object.entries(attributes).map(([name, inner]) => [name, typeToJson(inner)])),
    ],
  })
}

/** Terraform's notation of a type, such as `["list","string"]`, as the UTF-8 bytes in a schema. */
export function encodeType(type: Type): Uint8Array {
  return Buffer.from(JSON.stringify(typeToJson(type)))
}

/** The name of a type in messages: `list of string`. */
export function describeType(type: Type): string {
  return visitType(type, {
    primitive: (name) => name,
    list: (element) => `list of ${describeType(element)}`,
    set: (element) => `set of ${describeType(element)}`,
    map: (element) => `map of ${describeType(element)}`,
    object: () => 'object',
  })
}
