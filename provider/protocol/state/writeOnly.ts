/** Write-only attributes: they reach handlers through the configuration and are null everywhere else. */
import { type Attributes, isNested } from '../authoring/schema.ts'
import { mapElements } from '../schema/elements.ts'
import type { ObjectValue } from '../values/value.ts'

/** `object` with every write-only attribute null, at any depth. */
export function withoutWriteOnly(attributes: Attributes, object: ObjectValue): ObjectValue {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const attribute = attributes[name]
      if (attribute === undefined) return [name, value]
      if (attribute.writeOnly) return [name, null]
      if (!isNested(attribute)) return [name, value]
      return [name, mapElements(attribute, value, (inner) => withoutWriteOnly(attribute.attributes, inner))]
    }),
  )
}
