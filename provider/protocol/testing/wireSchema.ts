/** Reads a provider's schema back from the wire, as Terraform does. */
import type { Attribute, Attributes } from '../authoring/schema.ts'
import type { Type } from '../values/type.ts'
import type { WireAttribute, WireSchema } from '../wire/messageParts.ts'

const NESTINGS = { 1: 'single', 2: 'list', 3: 'set', 4: 'map' } as const

function readType(json: unknown): Type {
  if (json === 'string' || json === 'number' || json === 'bool') return json
  if (!Array.isArray(json)) throw new Error(`not a Terraform type: ${JSON.stringify(json)}`)
  const [kind, inner]: readonly unknown[] = json
  if (kind === 'list') return { list: readType(inner) }
  if (kind === 'set') return { set: readType(inner) }
  if (kind === 'map') return { map: readType(inner) }
  if (kind !== 'object' || typeof inner !== 'object' || inner === null) {
    throw new Error(`not a type that a schema may have: ${JSON.stringify(json)}`)
  }
  return {
    object: Object.fromEntries(Object.entries(inner).map(([name, type]) => [name, readType(type)])),
  }
}

function readNesting(nesting: number | undefined): 'single' | 'list' | 'set' | 'map' {
  if (nesting === 1 || nesting === 2 || nesting === 3 || nesting === 4) return NESTINGS[nesting]
  throw new Error(`not a Terraform nesting: ${nesting}`)
}

function readAttribute(wire: Partial<WireAttribute>): Attribute {
  const flags = {
    ...(wire.required ? { required: true as const } : {}),
    ...(wire.optional ? { optional: true as const } : {}),
    ...(wire.computed ? { computed: true as const } : {}),
    ...(wire.sensitive ? { sensitive: true as const } : {}),
    ...(wire.writeOnly ? { writeOnly: true as const } : {}),
  }
  if (wire.nestedType !== undefined) {
    return {
      ...flags,
      nesting: readNesting(wire.nestedType.nesting),
      attributes: readAttributes(wire.nestedType.attributes ?? []),
    }
  }
  const type = readType(JSON.parse(Buffer.from(wire.type ?? []).toString()))
  switch (type) {
    case 'string':
    case 'number':
    case 'bool':
      return leaf(type, flags)
    default:
      return { ...flags, type }
  }
}

function leaf(type: 'string' | 'number' | 'bool', flags: object): Attribute {
  if (type === 'string') return { ...flags, type }
  return type === 'number' ? { ...flags, type } : { ...flags, type }
}

function readAttributes(wire: readonly Partial<WireAttribute>[]): Attributes {
  return Object.fromEntries(wire.map((attribute) => [attribute.name ?? '', readAttribute(attribute)]))
}

/** The attributes of a schema that was received. Throws where Terraform would refuse it. */
export function readWireSchema(wire: WireSchema | undefined): Attributes {
  if (wire?.block === undefined) throw new Error('the schema has no block')
  return readAttributes(wire.block.attributes ?? [])
}
