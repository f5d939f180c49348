/** The proposal that Terraform makes before it asks a provider to plan: configuration merged with prior state. */
import {
  type Attribute,
  type Attributes,
  isNested,
  type NestedAttribute,
  typeOf,
} from '../authoring/schema.ts'
import { elementsOf, mapElements } from '../schema/elements.ts'
import { equalValues, isArray, isObject } from '../values/equality.ts'
import { isKnown, type ObjectValue, type Value } from '../values/value.ts'

/**
 * `config` with what the provider computed taken from `prior`; `prior` is null for an object to be created.
 *
 * Computed attributes that are not configured keep their prior value, everything else is as configured. Nested
 * objects are merged with the prior object at their place; those of sets with the prior one that could have come
 * from the same configuration.
 */
export function proposedNewState(
  attributes: Attributes,
  prior: ObjectValue | null,
  config: ObjectValue,
): ObjectValue {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [
      name,
      proposedAttribute(attribute, prior?.[name] ?? null, config[name] ?? null),
    ]),
  )
}

function proposedAttribute(attribute: Attribute, prior: Value, config: Value): Value {
  if (attribute.computed && config === null) {
    return isNested(attribute) && attribute.optional && holdsConfiguration(attribute, prior) ? null : prior
  }
  if (!isNested(attribute) || !isKnown(config)) return config
  return mapElements(attribute, config, (object, place) => {
    const counterpart =
      attribute.nesting === 'set' ? matchingElement(attribute, prior, object) : place.in(prior)
    return proposedNewState(attribute.attributes, counterpart ?? null, object)
  })
}

/** Whether a nested value has anything that only configuration can have put there: it was then removed from it. */
function holdsConfiguration(attribute: NestedAttribute, prior: Value): boolean {
  return elementsOf(attribute, prior).some(({ object }) =>
    Object.entries(attribute.attributes).some(([name, inner]) => !inner.computed && object[name] !== null),
  )
}

function matchingElement(
  attribute: NestedAttribute,
  prior: Value,
  config: ObjectValue,
): ObjectValue | undefined {
  if (!isArray(prior)) return undefined
  return prior
    .filter((item) => isObject(item))
    .find((item) => couldComeFrom(attribute.attributes, item, config))
}

function couldComeFrom(attributes: Attributes, prior: ObjectValue, config: ObjectValue): boolean {
  return Object.entries(attributes).every(([name, attribute]) => {
    const configured = config[name] ?? null
    if (attribute.computed && configured === null) return true
    return equalValues(typeOf(attribute), prior[name] ?? null, configured)
  })
}
