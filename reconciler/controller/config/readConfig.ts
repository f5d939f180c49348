import { formatPath, problemsOf } from '../../../api/contract/problem.ts'
import { gitSchemeOf } from '../../git/gitUrl.ts'
import { positionsOf } from '../../manifest/compile/origin.ts'
import { type ManifestProblem, sortedProblems } from '../../manifest/manifestProblem.ts'
import { mappingOf, valueAt } from '../../manifest/mapping.ts'
import type { ManifestPath } from '../../manifest/read/position.ts'
import type { ManifestDocument } from '../../manifest/read/readYaml.ts'
import { suggestionFor } from '../../manifest/suggestion.ts'
import { readBytes } from '../../source/manifestFiles.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { LEASE_TTL_MIN_MS } from '../../state/model/lease.ts'
import { type ControllerConfig, controllerJsonSchema, controllerSchema } from './controllerSchema.ts'

/** The configuration in a file, or its problems. */
export type ReadConfig =
  | { readonly config: ControllerConfig }
  | { readonly problems: readonly ManifestProblem[] }

type Unplaced = Pick<ManifestProblem, 'code' | 'message' | 'hint'> & { readonly path: ManifestPath }

/** Parses and validates `bytes`, the content of the configuration `file`. Pure. */
export function readConfig(file: string, bytes: Buffer): ReadConfig {
  const { documents, problems } = readBytes({ file, directory: '' }, bytes)
  if (problems.length > 0) return { problems }
  const [document] = documents
  if (document === undefined || documents.length > 1) {
    const message = `the file must contain one document, and contains ${documents.length}`
    return { problems: [{ code: 'E_KIND', file, line: 1, column: 1, message }] }
  }
  const parsed = controllerSchema.safeParse(document.value)
  const found = parsed.success
    ? disagreements(parsed.data)
    : problemsOf(parsed.error).map(({ path, message }) => worded(path, message, document.value))
  if (parsed.success && found.length === 0) return { config: parsed.data }
  return { problems: sortedProblems(found.map((problem) => placed(problem, document))) }
}

function placed({ path, ...problem }: Unplaced, { source, index }: ManifestDocument): ManifestProblem {
  const part = problem.code === 'E_UNKNOWN_FIELD' ? 'key' : 'value'
  return { ...problem, file: source.file, ...positionsOf(source).locate(index, path, part) }
}

/** Fields of earlier versions, with their replacements. */
const FORMER_FIELDS: Readonly<Record<string, string>> = {
  secretPrograms:
    'the controller no longer runs programs: start it with "sops exec-env" or "op run", or let an agent write files into secretsDir',
}

function worded(path: ManifestPath, message: string, document: unknown): Unplaced {
  const written = formatPath(path) || 'the document'
  if (message === 'is not a known field') {
    const field = String(path.at(-1))
    const known = fieldsAt(path.slice(0, -1))
    const meant = suggestionFor(field, known)
    const otherwise = meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`
    const hint = Object.hasOwn(FORMER_FIELDS, field) ? FORMER_FIELDS[field] : otherwise
    return { code: 'E_UNKNOWN_FIELD', path, message: `${written} ${message}`, hint }
  }
  const isMissing = valueAt(document, path) === undefined
  return isMissing
    ? { code: 'E_REQUIRED', path, message: `${written} is required: it ${message}`, hint: undefined }
    : { code: 'E_VALUE', path, message: `${written} ${message}`, hint: undefined }
}

/** The known fields of the mapping at `path`. */
function fieldsAt(path: ManifestPath): readonly string[] {
  const schema = path.reduce<unknown>((current, step) => {
    const { properties, items } = mappingOf(current) ?? {}
    return typeof step === 'number' ? items : mappingOf(properties)?.[step]
  }, controllerJsonSchema())
  return Object.keys(mappingOf(mappingOf(schema)?.properties) ?? {})
}

/** Problems of fields that are valid alone, but not together. */
function disagreements({ sets, webhooks, notifications }: ControllerConfig): readonly Unplaced[] {
  const { channels, forges } = notifications
  const names = sets.map((set) => set.name)
  const found: Unplaced[] = []
  const disagree = (path: ManifestPath, message: string, hint?: string): void => {
    found.push({ code: 'E_VALUE', path, message: `${formatPath(path)} ${message}`, hint })
  }
  const unique = (values: readonly (string | undefined)[], pathOf: (index: number) => ManifestPath): void => {
    for (const [index, value] of values.entries())
      if (value !== undefined && values.indexOf(value) !== index)
        disagree(pathOf(index), 'is used twice', 'give each its own')
  }
  unique(names, (index) => ['sets', index, 'name'])
  unique(
    webhooks.map(({ source }) => source),
    (index) => ['webhooks', index, 'source'],
  )
  for (const [index, { repository, state, leaseTtl }] of sets.entries()) {
    const scheme = gitSchemeOf(repository.url, { file: repository.allowFile })
    if ('problem' in scheme) disagree(['sets', index, 'repository', 'url'], scheme.problem)
    const kind = state !== undefined && isGitLocation(state) ? 'git' : 'file'
    if (leaseTtl !== undefined && leaseTtl < LEASE_TTL_MIN_MS[kind]) {
      const where = kind === 'git' ? 'git' : 'a file'
      const least = `must be at least ${LEASE_TTL_MIN_MS[kind] / 1_000}s for a state in ${where}`
      disagree(['sets', index, 'leaseTtl'], least)
    }
  }
  unique(
    channels.map(({ name }) => name),
    (index) => ['notifications', 'channels', index, 'name'],
  )
  const namers = [
    { path: ['webhooks'], all: webhooks },
    { path: ['notifications', 'channels'], all: channels },
    { path: ['notifications', 'forges'], all: forges },
  ]
  for (const { path, all } of namers)
    for (const [index, { sets: named = [] }] of all.entries())
      for (const [at, name] of named.entries())
        if (!names.includes(name))
          disagree([...path, index, 'sets', at], 'must be the name of a set', `there are ${names.join(', ')}`)
  return found
}
