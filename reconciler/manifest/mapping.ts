/** A mapping of a document before validation. */
export type Mapping = Readonly<Record<string, unknown>>

/** `value` as a mapping; `undefined` for other values. Pure. */
export function mappingOf(value: unknown): Mapping | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  // True because all other objects are mappings parsed by js-yaml.
  return value as Mapping
}

/** The value at `path` below `value`; `undefined` when there is none. Pure. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((current, step) => {
    if (Array.isArray(current)) return typeof step === 'number' ? current[step] : undefined
    const mapping = mappingOf(current)
    return mapping !== undefined && Object.hasOwn(mapping, step) ? mapping[step] : undefined
  }, value)
}
