/** The rules that a schema states about configuration: validators, and that collections hold no nulls. */
import { type Diagnostic, errorAt } from '../diagnostics.ts'
import { elementsOf } from '../state/elements.ts'
import { containsUnknown, isArray, isMap } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import { isKnown, type ObjectValue, type Value } from '../values/value.ts'
import { type Attribute, type Attributes, isNested, type Validator } from './schema.ts'

/**
 * What is wrong with `config`, attribute by attribute. A value that is unknown or holds something unknown is
 * skipped: Terraform validates again when it is known.
 */
export function validateAttributes(
  attributes: Attributes,
  config: ObjectValue,
  path: Path = [],
): readonly Diagnostic[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = config[name] ?? null
    const here = [...path, name]
    if (!isKnown(value)) return []
    const nested = isNested(attribute)
      ? elementsOf(attribute, value).flatMap(({ object, place }) =>
          validateAttributes(attribute.attributes, object, [...here, ...place.steps]),
        )
      : []
    return [...nullElements(value, here), ...runValidators(attribute, value, here), ...nested]
  })
}

function nullElements(value: Value, path: Path): readonly Diagnostic[] {
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

function runValidators(attribute: Attribute, value: Value, path: Path): readonly Diagnostic[] {
  if (attribute.validators === undefined || containsUnknown(value)) return []
  // Each attribute's validators take values of its own type, and the value was decoded by that type.
  const validators = attribute.validators as readonly Validator<Value>[]
  return validators.flatMap((validator) => validator(value, path))
}
