/** A mapping of a document before validation. */
export type Mapping = Readonly<Record<string, unknown>>

/** `value` as a mapping; `undefined` for other values. Pure. */
export function mappingOf(value: unknown): Mapping | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // True because all other objects are mappings parsed by js-yaml.
  return value as Mapping
}
