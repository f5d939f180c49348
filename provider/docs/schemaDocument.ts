import type { Provider } from '../protocol/authoring/provider.ts'
import type { AnyFunction } from '../protocol/authoring/providerFunction.ts'
import { type Attribute, type Attributes, isNested, type Schema } from '../protocol/authoring/schema.ts'
import { encodeType, type Type } from '../protocol/values/type.ts'

/** A JSON document as `terraform providers schema -json` prints it, or a part of one. */
export interface SchemaDocument {
  readonly [key: string]: unknown
}

/** The key of each kind of types in the document. */
const KINDS = {
  resources: 'resource_schemas',
  dataSources: 'data_source_schemas',
  lists: 'list_resource_schemas',
  actions: 'action_schemas',
} as const

/**
 * The schema of `provider` as `terraform providers schema -json` prints it, under its source `address` with the
 * host spelled out: what bindings are generated from, and the public surface to compare between versions. Pure.
 */
export function schemaDocument(provider: Provider, address: string): SchemaDocument {
  // True because these are the keys of KINDS.
  const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) => provider[kind].size > 0)
  const schemas = kinds.map((kind) => [
    KINDS[kind],
    Object.fromEntries(
      [...provider[kind]].map(([name, { handlers }]) => [name, schemaEntry(handlers.schema)]),
    ),
  ])
  const functions = [...provider.functions].map(([name, definition]) => [name, functionEntry(definition)])
  return {
    format_version: '1.0',
    provider_schemas: {
      [address]: {
        provider: schemaEntry(provider.schema),
        ...Object.fromEntries(schemas),
        ...(functions.length === 0 ? {} : { functions: Object.fromEntries(functions) }),
      },
    },
  }
}

function functionEntry({ summary, description, parameters, returns }: AnyFunction): SchemaDocument {
  return {
    description,
    summary,
    return_type: typeEntry(returns),
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      description: parameter.description,
      type: typeEntry(parameter.type),
    })),
  }
}

function typeEntry(type: Type): unknown {
  return JSON.parse(Buffer.from(encodeType(type)).toString())
}

function schemaEntry(schema: Schema): SchemaDocument {
  return {
    version: schema.version ?? 0,
    block: { attributes: attributeEntries(schema.attributes), ...described(schema) },
  }
}

function attributeEntries(attributes: Attributes): SchemaDocument {
  const names = Object.keys(attributes).sort()
  return Object.fromEntries(
    names.flatMap((name) => {
      const attribute = attributes[name]
      return attribute === undefined ? [] : [[name, attributeEntry(attribute)]]
    }),
  )
}

function attributeEntry(attribute: Attribute): SchemaDocument {
  const { required, optional, computed, sensitive, writeOnly } = attribute
  const flags = { required, optional, computed, sensitive, write_only: writeOnly }
  return {
    ...(isNested(attribute)
      ? {
          nested_type: {
            attributes: attributeEntries(attribute.attributes),
            nesting_mode: attribute.nesting,
          },
        }
      : { type: typeEntry(attribute.type) }),
    ...described(attribute),
    ...Object.fromEntries(Object.entries(flags).filter(([, isSet]) => isSet === true)),
  }
}

function described({ description }: { readonly description?: string }): SchemaDocument {
  return description === undefined ? {} : { description, description_kind: 'markdown' }
}
