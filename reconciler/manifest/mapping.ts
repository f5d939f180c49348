/** A mapping of a document, before it is known to be valid. */
export type Mapping = Readonly<Record<string, unknown>>

/** `value` as a mapping; `undefined` when it is none. Pure. */
export function mappingOf(value: unknown): Mapping | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // True because what is left is an object that js-yaml made from a mapping.
  return value as Mapping
}
