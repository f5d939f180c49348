/** Schemas in the form of the protocol. */

import { type Attribute, type Attributes, isNested, type Schema } from '../authoring/schema.ts'
import { encodeType } from '../values/type.ts'
import { MARKDOWN, NESTING, type WireAttribute, type WireSchema } from '../wire/messageParts.ts'

function encodeAttribute(name: string, attribute: Attribute): Partial<WireAttribute> {
  return {
    name,
    description: attribute.description ?? '',
    descriptionKind: MARKDOWN,
    required: attribute.required ?? false,
    optional: attribute.optional ?? false,
    computed: attribute.computed ?? false,
    sensitive: attribute.sensitive ?? false,
    writeOnly: attribute.writeOnly ?? false,
    ...(isNested(attribute)
      ? {
          nestedType: {
            attributes: encodeAttributes(attribute.attributes),
            nesting: NESTING[attribute.nesting],
          },
        }
      : { type: encodeType(attribute.type) }),
  }
}

function encodeAttributes(attributes: Attributes): readonly Partial<WireAttribute>[] {
  return Object.entries(attributes).map(([name, attribute]) => encodeAttribute(name, attribute))
}

/** `schema` as a message, without validators and defaults. */
export function encodeSchema(schema: Schema): WireSchema {
  return {
    version: schema.version ?? 0,
    block: {
      attributes: encodeAttributes(schema.attributes),
      description: schema.description ?? '',
      descriptionKind: MARKDOWN,
    },
  }
}
