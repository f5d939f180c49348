import { type Attribute, type Attributes, isNested } from '../protocol/authoring/schema.ts'

/** `attributes` of a resource in the form for a data source: all computed, without write-only ones. Pure. */
export function computedAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, attribute]) =>
      attribute.writeOnly === true ? [] : [[name, computed(attribute)]],
    ),
  )
}

function computed(attribute: Attribute): Attribute {
  const { description } = attribute
  const flags = { computed: true, ...(description === undefined ? {} : { description }) } as const
  return isNested(attribute)
    ? { nesting: attribute.nesting, attributes: computedAttributes(attribute.attributes), ...flags }
    : { type: attribute.type, ...flags }
}
