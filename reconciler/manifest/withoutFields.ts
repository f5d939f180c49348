import { mappingOf } from './defaults.ts'
import type { ManifestPath } from './position.ts'

/**
 * `value` without the fields at `paths`. An item of a list goes with its list, so that the others keep their places;
 * what is not there is left out. Pure.
 */
export function withoutFields(value: unknown, paths: readonly ManifestPath[]): unknown {
  return paths.map(toField).reduce(withoutField, value)
}

function toField(path: ManifestPath): ManifestPath {
  return path.slice(0, path.findLastIndex((step) => typeof step === 'string') + 1)
}

function withoutField(value: unknown, [step, ...rest]: ManifestPath): unknown {
  if (step === undefined) return undefined
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? withoutField(item, rest) : item))
  }
  const mapping = mappingOf(value)
  if (mapping === undefined || !Object.hasOwn(mapping, step)) return value
  const entries = Object.entries(mapping)
  return Object.fromEntries(
    rest.length === 0
      ? entries.filter(([key]) => key !== step)
      : entries.map(([key, entry]) => [key, key === step ? withoutField(entry, rest) : entry]),
  )
}
