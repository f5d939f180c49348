/** Terraform's proposal before it calls the provider's plan: the configuration merged with the prior state. */
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
 * `config`, with the values that the provider computed taken from `prior`, which is null for a create.
 *
 * Computed attributes that are not configured keep their prior value; everything else is as configured. A nested object
 * is merged with the prior object at its place, or in a set with the prior object that could have come from the same
 * configuration.
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

/** Whether a nested value has a part that can only come from configuration, from which it was then removed. */
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
