import { DURATION_FORM } from '../../../api/contract/duration.ts'
import { formatPath, type Problem } from '../../../api/contract/problem.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import { mappingOf, valueAt } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import { STATUS_FORM } from '../schema/assertionForm.ts'
import { descriptionOf } from '../schema/jsonSchema.ts'
import { knownFieldsAt, unknownFieldHint } from '../schema/knownFields.ts'
import { KINDS, type Kind, NAME_MESSAGE } from '../schema/serviceManifest.ts'
import { suggestionFor } from '../suggestion.ts'
import { type Origin, pathIn, placeIn, positionsOf } from './origin.ts'

const MERGE_KEY = '<<'
const NO_MERGE_KEYS = 'merge keys are not supported: share values with a kind: Defaults document'

/** Hint for a key named `__proto__`. */
export const IMPOSSIBLE_NAME = 'this name is reserved, even for headers'

/**
 * `problems` of `merged`, which was compiled from `origin`, as problems of a manifest: code, place, message and hint.
 * Without missing fields that unreadable Defaults, a merge key, or the other one of a repeated field may have.
 */
export function describeProblems(
  problems: readonly Problem[],
  origin: Origin,
  merged: unknown,
): readonly ManifestProblem[] {
  const faulty = [origin.own, ...origin.defaults].filter((document) => document.faulty)
  return problems.flatMap((problem) => {
    const described = describeProblem(problem, origin, merged)
    const mayBeWritten =
      described.code === 'E_REQUIRED' &&
      (hasMergeKey(valueAt(merged, problem.path.slice(0, -1))) ||
        faulty.some(
          ({ source, index, isHidden }) =>
            isHidden === true || positionsOf(source).isWrittenTwice(index, problem.path),
        ))
    return mayBeWritten ? [] : [described]
  })
}

function hasMergeKey(value: unknown): boolean {
  return Object.hasOwn(mappingOf(value) ?? {}, MERGE_KEY)
}

function describeProblem(problem: Problem, origin: Origin, merged: unknown): ManifestProblem {
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
  const kind = kindOf(origin)
  const isMerged = last === MERGE_KEY || hasMergeKey(value)
  const hint =
    (isMerged ? NO_MERGE_KEYS : undefined) ??
    typeHint(problem.message, value) ??
    mappingHint(kind, path, value) ??
    exampleHint(kind, path, problem)
  // A status that is no mapping was hardly meant to be a comparison.
  const isStatus = last === 'status' && mappingOf(value) === undefined
  const message = isStatus ? STATUS_FORM : plainMessage(problem.message)
  return {
    code: 'E_VALUE',
    ...placeIn(origin, path, 'value'),
    message: `${formatPath(pathIn(origin, path)) || 'the document'} ${message}`,
    ...(hint === undefined ? {} : { hint }),
  }
}

function kindOf({ own }: Origin): Kind {
  return KINDS.find((kind) => kind === own.mapping.kind) ?? 'Service'
}

function hintFor(origin: Origin, parent: ManifestPath, field: string): string | undefined {
  if (field === '__proto__') return IMPOSSIBLE_NAME
  if (field === MERGE_KEY) return NO_MERGE_KEYS
  return unknownFieldHint(kindOf(origin), parent, field)
}

function unknownField(path: ManifestPath, field: string, origin: Origin): ManifestProblem {
  const place = placeIn(origin, path, 'key')
  // Paths hide keys that are no names, but the message about a merge key has to name it.
  const written = formatPath(pathIn(origin, path))
  const shown = field === MERGE_KEY ? written.replace(/…$/, MERGE_KEY) : written
  const message = `${shown} is not a known field`
  return { code: 'E_UNKNOWN_FIELD', ...place, message, hint: hintFor(origin, path.slice(0, -1), field) }
}

/** Hint for a scalar that YAML read as another type than intended. */
function typeHint(message: string, value: unknown): string | undefined {
  const wantsText = message.startsWith('must be a string')
  if (wantsText && (typeof value === 'number' || typeof value === 'boolean' || value === null)) {
    return 'YAML reads this as a number, a boolean or null: quote it'
  }
  // Durations of the API are no texts.
  const wantsTime = message.includes(DURATION_FORM) || message.includes('whole seconds')
  if (wantsTime && typeof value === 'number') return 'add a unit: 30 becomes 30s'
  if (message === NAME_MESSAGE && typeof value === 'string')
    return 'put a name for readers into spec.name, which may be any text'
  if (message === 'must be true or false' && typeof value === 'string') {
    return 'YAML 1.2 has only true and false, without quotes: yes, no, on and off are strings'
  }
  return undefined
}

/** Sources of a value: a mapping has one of them. */
const SOURCES = ['env', 'file', 'value']
/** Sources of earlier versions, with their replacements. */
const FORMER_SOURCES: Readonly<Record<string, string>> = {
  sops: 'pharos no longer runs sops: start it with "sops exec-env FILE", and refer to { env: NAME }',
  exec: 'pharos no longer runs programs: set a variable before it starts and refer to { env: NAME }, or write a file and refer to { file: /run/secrets/NAME }',
}
const ONE_OF = 'must have exactly one of the keys'

/** Hint for a mapping with a misspelt key, or with two keys instead of one. */
function mappingHint(kind: Kind, path: ManifestPath, value: unknown): string | undefined {
  const keys = Object.keys(mappingOf(value) ?? {})
  const known = knownFieldsAt(kind, path)
  const former = known.includes('env') ? keys.find((key) => Object.hasOwn(FORMER_SOURCES, key)) : undefined
  if (former !== undefined) return FORMER_SOURCES[former]
  const meant = keys.filter((key) => !known.includes(key)).map((key) => suggestionFor(key, known))
  const [first] = meant.filter((name) => name !== undefined)
  if (first !== undefined) return `did you mean ${first}?`
  if (meant.length > 0 || keys.length < 2) return undefined
  const sources = keys.filter((key) => SOURCES.includes(key))
  if (sources.length > 1) return `keep one of ${sources.join(', ')}`
  return path.at(-2) === 'assertions' ? 'write each as an item of its own' : undefined
}

/** An example of a valid value at `path`, if the message has none. */
function exampleHint(kind: Kind, path: ManifestPath, { message }: Problem): string | undefined {
  if (!message.startsWith(ONE_OF)) return undefined
  const names = path.filter((step) => typeof step === 'string')
  const [example] =
    typeof path.at(-1) === 'number' ? [] : (descriptionOf({ kind, path: names })?.examples ?? [])
  const fields = Object.entries(mappingOf(example) ?? {})
  if (fields.length === 0) return undefined
  return `such as { ${fields.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ')} }`
}

/** `message` in the terms of YAML, if its schema has no text of its own. */
function plainMessage(message: string): string {
  if (!/^must be (?:an array$|an object$|.+, not )/.test(message)) return message
  return message.replaceAll('an array', 'a list').replaceAll('an object', 'a mapping')
}
