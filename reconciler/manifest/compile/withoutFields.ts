import { mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'

/** Valid values of required fields, with which the other fields can be checked. */
const STAND_INS: readonly { readonly at: RegExp; readonly value: unknown }[] = [
  { at: /^spec\/interval$/, value: '1m' },
  { at: /^spec\/regions$/, value: ['eu-west-1'] },
  { at: /^spec\/endpoints\/\d+\/url$/, value: 'https://example.com/' },
]

/**
 * The Service document `value` without the fields at `paths`, or with valid values of required ones. For an item of a list
 * the whole list is removed, so that indexes remain correct. Pure.
 */
export function withoutFields(value: unknown, paths: readonly ManifestPath[]): unknown {
  return paths.map(toField).reduce<unknown>((sound, path) => {
    const standIn = STAND_INS.find(({ at }) => at.test(path.join('/')))
    return withField(sound, path, standIn?.value)
  }, value)
}

function toField(path: ManifestPath): ManifestPath {
  return path.slice(0, path.findLastIndex((step) => typeof step === 'string') + 1)
}

/** `value` with `standIn` at the path; without that field when it is `undefined`. */
function withField(value: unknown, [step, ...rest]: ManifestPath, standIn: unknown): unknown {
  if (step === undefined) return undefined
  if (Array.isArray(value)) {
    return value.map((item: unknown, index) => (index === step ? withField(item, rest, standIn) : item))
  }
  const mapping = mappingOf(value)
  if (mapping === undefined) return value
  const inner = rest.length === 0 ? standIn : withField(mapping[step], rest, standIn)
  const others = Object.entries(mapping).filter(([key]) => key !== step)
  return Object.fromEntries(inner === undefined ? others : [...others, [step, inner]])
}
