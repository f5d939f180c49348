/** The rules of a schema for configuration: required, optional and read-only attributes, and validators. */
import { type Diagnostic, errorAt } from '../authoring/diagnostics.ts'
import { type Attribute, type Attributes, isNested } from '../authoring/schema.ts'
import { isArray, isMap } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { elementsOf } from './elements.ts'

/** The faults of one attribute's value, at `path`. */
export type Rule = (attribute: Attribute, value: Value, path: Path) => readonly Diagnostic[]

/**
 * The violations of `rule` in `config`, including null and unknown attributes. Attributes inside a read-only one are
 * not checked: the mistake is to set it at all.
 */
export function violationsOf(
  attributes: Attributes,
  config: ObjectValue,
  rule: Rule,
  path: Path = [],
): readonly Diagnostic[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => {
    const value = config[name] ?? null
    const here = [...path, name]
    const nested =
      isNested(attribute) && !isReadOnly(attribute)
        ? elementsOf(attribute, value).flatMap(({ object, place }) =>
            violationsOf(attribute.attributes, object, rule, [...here, ...place.steps]),
          )
        : []
    return [...rule(attribute, value, here), ...nested]
  })
}

function isReadOnly({ computed, optional }: Attribute): boolean {
  return computed === true && optional !== true
}

/**
 * Refuses values for attributes that only the provider sets. Terraform accepts them, plans them as configured, and loses
 * the object when the provider's response differs. An unknown value is refused too, because it is set.
 */
export const refuseReadOnly: Rule = (attribute, value, path) => {
  if (!isReadOnly(attribute) || value === null) return []
  const detail =
    `Cannot set a value for ${formatPath(path)}, as the provider has marked it as read-only. ` +
    'Remove the configuration line setting the value.'
  return [errorAt(path, 'Invalid Configuration for Read-Only Attribute', detail)]
}

/** Refuses null for required attributes: Terraform itself checks only that the argument is present. */
export const refuseMissing: Rule = (attribute, value, path) => {
  if (!attribute.required || value !== null) return []
  const detail = `Must set a configuration value for ${formatPath(path)}, as the provider has marked it as required: it is null.`
  return [errorAt(path, 'Missing Configuration for Required Attribute', detail)]
}

/** Refuses null elements of lists, sets and maps, which handlers do not expect. */
export const refuseNullElements: Rule = (_attribute, value, path) => {
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

/**
 * Refuses write-only attributes, unknown ones too, for a client that is too old: it would silently send null instead of
 * the value.
 */
export const refuseWriteOnly: Rule = (attribute, value, path) => {
  if (!attribute.writeOnly || value === null) return []
  const detail =
    `${formatPath(path)} is write-only, which the program that runs this configuration does not support. ` +
    'Upgrade it to Terraform 1.11, OpenTofu 1.11 or later, or remove the attribute.'
  return [errorAt(path, 'Write-only attributes need Terraform 1.11 or OpenTofu 1.11', detail)]
}
