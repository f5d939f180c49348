/**
 * Terraform's rules for plans, checked before a plan is sent.
 *
 * Terraform's own message about a violation is long and does not name the handler. These messages name the attribute
 * and the rule.
 */
import { type Attribute, type Attributes, isNested, typeOf } from '../authoring/schema.ts'
import { elementsOf } from '../schema/elements.ts'
import type { Fault } from '../state/handlerResult.ts'
import { equalValues, isArray, isMap } from '../values/equality.ts'
import type { Path } from '../values/path.ts'
import { isKnown, type ObjectValue, type Value } from '../values/value.ts'

/** A plan and the values to check it against. */
export interface PlanParts {
  readonly planned: ObjectValue
  readonly config: ObjectValue
  /** `undefined` for a create. */
  readonly prior?: ObjectValue | undefined
}

interface ValueParts {
  readonly planned: Value
  readonly config: Value
  readonly prior: Value
}

/** The violations in a plan; empty when Terraform would accept it. */
export function checkPlan(attributes: Attributes, parts: PlanParts, path: Path = []): readonly Fault[] {
  return Object.entries(attributes).flatMap(([name, attribute]) =>
    checkAttribute(
      attribute,
      {
        planned: parts.planned[name] ?? null,
        config: parts.config[name] ?? null,
        prior: parts.prior?.[name] ?? null,
      },
      [...path, name],
    ),
  )
}

function checkAttribute(attribute: Attribute, parts: ValueParts, path: Path): readonly Fault[] {
  const { planned, config, prior } = parts
  const fault = (message: string): readonly Fault[] => [{ path, message }]
  if (attribute.writeOnly) {
    return planned === null ? [] : fault('is write-only, so it must be planned as null')
  }
  const type = typeOf(attribute)
  if (equalValues(type, planned, config)) return []
  if (isKnown(planned) && isKnown(config) && equalValues(type, planned, prior)) return []
  if (config === null) {
    if (attribute.computed) return []
    return fault('is not configured and not computed, so it must be planned as null')
  }
  if (isNested(attribute) && isKnown(config)) return checkNested(attribute, parts, path)
  return fault('must be planned as configured, or with its prior value')
}

function checkNested(
  attribute: Extract<Attribute, { readonly nesting: string }>,
  { planned, config, prior }: ValueParts,
  path: Path,
): readonly Fault[] {
  const fault = (message: string): readonly Fault[] => [{ path, message }]
  if (!isKnown(planned)) return fault('is configured, so it must be planned with a known value')
  if (sizeOf(planned) !== sizeOf(config)) return fault('must be planned with as many elements as configured')
  if (attribute.nesting === 'set') return []
  return elementsOf(attribute, planned).flatMap(({ object, place }) => {
    const configured = place.in(config)
    if (configured === undefined) return fault('must be planned with the configured elements')
    return checkPlan(attribute.attributes, { planned: object, config: configured, prior: place.in(prior) }, [
      ...path,
      ...place.steps,
    ])
  })
}

function sizeOf(value: Value): number {
  if (isArray(value)) return value.length
  return isMap(value) ? value.size : 1
}
