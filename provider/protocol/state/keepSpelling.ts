/** Semantic equality: a value that only changed its spelling keeps the stored one. */
import { type Attribute, type Attributes, isNested } from '../authoring/schema.ts'
import { mapElements } from '../schema/elements.ts'
import { containsUnknown } from '../values/equality.ts'
import type { ObjectValue, Value } from '../values/value.ts'

/** Whether two known values of `attribute` are equal according to the schema. */
export function meansTheSame(attribute: Attribute, prior: Value, next: Value): boolean {
  if (prior === null || next === null || containsUnknown(prior) || containsUnknown(next)) return false
  // True because both values were decoded by the attribute's type, which equal() takes.
  const equal = attribute.equal as ((prior: Value, next: Value) => boolean) | undefined
  return equal?.call(attribute, prior, next) ?? false
}

/** `next` with the spelling of `prior` for values that are equal according to the schema. */
export function keepSpelling(attributes: Attributes, next: ObjectValue, prior: ObjectValue): ObjectValue {
  return Object.fromEntries(
    Object.entries(next).map(([name, value]) => {
      const attribute = attributes[name]
      const before = prior[name] ?? null
      if (attribute === undefined) return [name, value]
      if (meansTheSame(attribute, before, value)) return [name, before]
      if (!isNested(attribute)) return [name, value]
      return [
        name,
        mapElements(attribute, value, (inner, place) => {
          const counterpart = place.in(before)
          return counterpart === undefined ? inner : keepSpelling(attribute.attributes, inner, counterpart)
        }),
      ]
    }),
  )
}
