import { formatPath, type Problem } from '../../api/contract/problem.ts'
import { STATUS_FORM } from './assertionForm.ts'
import { mappingOf } from './defaults.ts'
import type { ManifestProblem } from './manifestProblem.ts'
import { type Origin, pathIn, placeIn } from './origin.ts'
import type { ManifestPath } from './position.ts'
import { suggestionFor } from './suggestion.ts'

/** Fields of a manifest by the mapping that they belong to, for "did you mean". */
const FIELDS: readonly { readonly of: RegExp; readonly fields: readonly string[] }[] = [
  { of: /^$/, fields: ['apiVersion', 'kind', 'metadata', 'spec', 'policy'] },
  { of: /^metadata$/, fields: ['name', 'labels', 'id', 'previousNames'] },
  { of: /^spec$/, fields: ['name', 'interval', 'regions', 'paused', 'endpoints', 'endpointsDefaults'] },
  {
    of: /^spec\.(endpoints\[\d+\]|endpointsDefaults)$/,
    fields: ['url', 'name', 'method', 'timeout', 'maxRedirects', 'withDns', 'headers', 'body', 'assertions'],
  },
  { of: /^policy$/, fields: ['onDelete', 'protect', 'drift'] },
  { of: /\.assertions\[\d+\]$/, fields: ['status', 'latency', 'dns', 'header', 'body', 'raw'] },
  {
    of: /\.assertions\[\d+\]\.(header|body)$/,
    fields: ['name', 'equals', 'contains', 'startsWith', 'endsWith', 'regex'],
  },
  { of: /\.assertions\[\d+\]\.status$/, fields: ['eq', 'not', 'lt', 'lte', 'gt', 'gte', 'between', 'oneOf'] },
  {
    of: /\.headers\.[^.]+$/,
    fields: ['env', 'file', 'sops', 'exec', 'prefix', 'allowEmpty', 'value', 'sensitive'],
  },
]

const MERGE_KEY = '<<'

/** What to do about a key named `__proto__`. */
export const IMPOSSIBLE_NAME = 'nothing can have this name, not even a header'

/** `problem` of `merged`, which came from `origin`, as its author should read it: code, place, words and a hint. */
export function describeProblem(problem: Problem, origin: Origin, merged: unknown): ManifestProblem {
  const { path } = problem
  const last = path.at(-1)
  if (problem.message === 'is not a known field' && typeof last === 'string') {
    return unknownField(path, last, origin)
  }
  const value = valueAt(merged, path)
  if (value === undefined) {
    const message = `${formatPath(path)} is required: it ${problem.message}`
    return { code: 'E_REQUIRED', ...placeIn(origin, path, 'key'), message }
  }
  const hint = typeHint(problem.message, value) ?? misspelledTag(path, value)
  // Of all that a status may be, a mapping is the least that somebody means who wrote something else.
  const isStatus = last === 'status' && mappingOf(value) === undefined
  const message = isStatus ? STATUS_FORM : problem.message
  return {
    code: 'E_VALUE',
    ...placeIn(origin, path, 'value'),
    message: `${formatPath(pathIn(origin, path)) || 'the document'} ${message}`,
    ...(hint === undefined ? {} : { hint }),
  }
}

function unknownField(path: ManifestPath, field: string, origin: Origin): ManifestProblem {
  const place = placeIn(origin, path, 'key')
  // The key of a merge is no name, which paths do not show, but here it is all that there is to say.
  const written = formatPath(pathIn(origin, path))
  const shown = field === MERGE_KEY ? written.replace(/…$/, MERGE_KEY) : written
  const message = `${shown} is not a known field`
  return { code: 'E_UNKNOWN_FIELD', ...place, message, hint: unknownFieldHint(path.slice(0, -1), field) }
}

function unknownFieldHint(parent: ManifestPath, field: string): string | undefined {
  if (field === '__proto__') return IMPOSSIBLE_NAME
  if (field === MERGE_KEY) return 'merge keys are not supported: share values with a kind: Defaults document'
  const at = formatPath(parent)
  const known = FIELDS.find(({ of }) => of.test(at))?.fields ?? []
  const meant = suggestionFor(field, known)
  if (meant !== undefined) return `did you mean ${meant}?`
  const home = FIELDS.find(({ fields }) => fields.includes(field))
  if (home !== undefined && known.length > 0) {
    const homes: Readonly<Record<string, string>> = {
      '^$': 'the top level',
      '^metadata$': 'metadata',
      '^spec$': 'spec',
      '^policy$': 'policy',
    }
    const name = homes[home.of.source]
    if (name !== undefined) return `it belongs to ${name}`
  }
  return known.length === 0 ? undefined : `known here: ${known.join(', ')}`
}

/** What to do about a scalar that YAML read as something else than its author meant. */
function typeHint(message: string, value: unknown): string | undefined {
  const wantsText = message.startsWith('must be a string')
  if (wantsText && (typeof value === 'number' || typeof value === 'boolean' || value === null)) {
    return 'YAML reads this as a number, a boolean or nothing: quote it'
  }
  const wantsTime = message.includes('duration') || message.includes('whole seconds')
  if (wantsTime && typeof value === 'number') return 'add a unit: 30 becomes 30s'
  if (message === 'must be true or false' && typeof value === 'string') {
    return 'YAML 1.2 knows true and false only, without quotes: yes, no, on and off are texts'
  }
  return undefined
}

function misspelledTag(path: ManifestPath, value: unknown): string | undefined {
  const keys = Object.keys(mappingOf(value) ?? {})
  const known = FIELDS.find(({ of }) => of.test(formatPath(path)))?.fields
  const [only] = keys
  if (known === undefined || only === undefined || keys.length !== 1 || known.includes(only)) return undefined
  const meant = suggestionFor(only, known)
  return meant === undefined ? undefined : `did you mean ${meant}?`
}

function valueAt(value: unknown, path: ManifestPath): unknown {
  return path.reduce<unknown>((current, step) => {
    if (Array.isArray(current)) return typeof step === 'number' ? current[step] : undefined
    const mapping = mappingOf(current)
    return mapping !== undefined && Object.hasOwn(mapping, step) ? mapping[step] : undefined
  }, value)
}
