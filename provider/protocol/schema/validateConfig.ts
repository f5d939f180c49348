/** The rules that a schema states about configuration: validators, and that collections hold no nulls. */
import { type Diagnostic, errorAt } from '../diagnostics.ts'
import { elementsOf } from '../state/elements.ts'
import { containsUnknown, isArray, isMap } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import { isKnown, type ObjectValue, type Value } from '../values/value.ts'
import { type Attribute, type Attributes, isNested, type Validator } from './schema.ts'

/** What one attribute's own value, at `path`, breaks. */
type Rule = (attribute: Attribute, value: Value, path: Path) => readonly Diagnostic[]

/**
 * Where `config` breaks `rule`, attribute by attribute. A value that is unknown is skipped: Terraform validates again
 * when it is known.
 */
export function brokenIn(
  attributes: Attributes,
  config: ObjectValue,
  rule: Rule,
  path: Path = [],
): readonly Diagnostic[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = config[name] ?? null
    const here = [...path, name]
    if (!isKnown(value)) return []
    const nested = isNested(attribute)
      ? elementsOf(attribute, value).flatMap(({ object, place }) =>
          brokenIn(attribute.attributes, object, rule, [...here, ...place.steps]),
        )
      : []
    return [...rule(attribute, value, here), ...nested]
  })
}

/** No element of a list, set or map is null: handlers count on it. */
export const noNullElements: Rule = (_attribute, value, path) => {
  const refuse = (at: Path): Diagnostic =>
    errorAt(
      at,
      'Null element',
      `An element of ${formatPath(path)} is null. Leave it out instead, for example with compact() or an "if" in a for expression.`,
    )
  if (isArray(value)) return value.includes(null) ? [refuse(path)] : []
  if (!isMap(value)) return []
  return [...value].filter(([, item]) => item === null).map(([key]) => refuse([...path, { key }]))
}

/** The validators of the schema, each for a value of which everything is known. */
export const ownValidators: Rule = (attribute, value, path) => {
  if (attribute.validators === undefined || containsUnknown(value)) return []
  // Each attribute's validators take values of its own type, and the value was decoded by that type.
  const validators = attribute.validators as readonly Validator<Value>[]
  return validators.flatMap((validator) => validator(value, path))
}
