import { formatPath, problemsOf } from '../../../api/contract/problem.ts'
import { gitSchemeOf } from '../../git/gitUrl.ts'
import { positionsOf } from '../../manifest/compile/origin.ts'
import { type ManifestProblem, sortedProblems } from '../../manifest/manifestProblem.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import type { ManifestPath } from '../../manifest/read/position.ts'
import type { ManifestDocument } from '../../manifest/read/readYaml.ts'
import { suggestionFor } from '../../manifest/suggestion.ts'
import { readBytes } from '../../source/manifestFiles.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { LEASE_TTL_MIN_MS } from '../../state/model/lease.ts'
import { type ControllerConfig, controllerJsonSchema, controllerSchema } from './controllerSchema.ts'
import { notificationDisagreements } from './notificationsSchema.ts'

/** The configuration in a file, or everything that is wrong with it. */
export type ReadConfig =
  | { readonly config: ControllerConfig }
  | { readonly problems: readonly ManifestProblem[] }

type Unplaced = Pick<ManifestProblem, 'code' | 'message' | 'hint'> & { readonly path: ManifestPath }

/** Reads the configuration that `bytes`, the content of `file`, hold. Pure. */
export function readConfig(file: string, bytes: Buffer): ReadConfig {
  const { documents, problems } = readBytes({ file, directory: '' }, bytes)
  if (problems.length > 0) return { problems }
  const [document] = documents
  if (document === undefined || documents.length > 1) {
    const message = `the file must hold one document, and holds ${documents.length}`
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

/** Fields of earlier versions, with what replaces them. */
const FORMER_FIELDS: Readonly<Record<string, string>> = {
  secretPrograms:
    'the controller no longer runs programs: start it with "sops exec-env" or "op run", or have an agent write files into secretsDir',
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

function valueAt(value: unknown, path: ManifestPath): unknown {
  return path.reduce<unknown>((current, step) => {
    if (Array.isArray(current)) return current[Number(step)]
    return mappingOf(current)?.[step]
  }, value)
}

/** Fields that the schema knows in the mapping at `path`. */
function fieldsAt(path: ManifestPath): readonly string[] {
  const schema = path.reduce<unknown>((current, step) => {
    const { properties, items } = mappingOf(current) ?? {}
    return typeof step === 'number' ? items : mappingOf(properties)?.[step]
  }, controllerJsonSchema())
  return Object.keys(mappingOf(mappingOf(schema)?.properties) ?? {})
}

/** What each field allows, but not together with the others. */
function disagreements({ sets, webhooks, notifications }: ControllerConfig): readonly Unplaced[] {
  const names = sets.map((set) => set.name)
  return [
    ...repeated(names, (index) => ['sets', index, 'name']),
    ...repeated(
      webhooks.map((hook) => hook.source),
      (index) => ['webhooks', index, 'source'],
    ),
    ...repeated(
      sets.map((set) => set.state),
      (index) => ['sets', index, 'state'],
    ),
    ...sets.flatMap(({ repository }, index): readonly Unplaced[] => {
      const scheme = gitSchemeOf(repository.url, { file: repository.allowFile })
      if (!('problem' in scheme)) return []
      const path: ManifestPath = ['sets', index, 'repository', 'url']
      return [{ code: 'E_VALUE', path, message: `${formatPath(path)} ${scheme.problem}`, hint: undefined }]
    }),
    ...sets.flatMap(({ state, leaseTtl }, index): readonly Unplaced[] => {
      const kind = state !== undefined && isGitLocation(state) ? 'git' : 'file'
      if (leaseTtl === undefined || leaseTtl >= LEASE_TTL_MIN_MS[kind]) return []
      const path: ManifestPath = ['sets', index, 'leaseTtl']
      const least = `must be at least ${LEASE_TTL_MIN_MS[kind] / 1_000}s where the state is in ${kind === 'git' ? 'git' : 'a file'}`
      return [{ code: 'E_VALUE', path, message: `${formatPath(path)} ${least}`, hint: undefined }]
    }),
    ...notificationDisagreements(notifications, names).map(({ path: below, message, hint }): Unplaced => {
      const path: ManifestPath = ['notifications', ...below]
      return { code: 'E_VALUE', path, message: `${formatPath(path)} ${message}`, hint }
    }),
    ...webhooks.flatMap((hook, index) =>
      (hook.sets ?? []).flatMap((named, at): readonly Unplaced[] => {
        if (names.includes(named)) return []
        const path: ManifestPath = ['webhooks', index, 'sets', at]
        const message = `${formatPath(path)} must be the name of a set`
        return [{ code: 'E_VALUE', path, message, hint: `there are ${names.join(', ')}` }]
      }),
    ),
  ]
}

function repeated(
  values: readonly (string | undefined)[],
  pathOf: (index: number) => ManifestPath,
): readonly Unplaced[] {
  return values.flatMap((value, index): readonly Unplaced[] => {
    if (value === undefined || values.indexOf(value) === index) return []
    const path = pathOf(index)
    const message = `${formatPath(path)} is used twice`
    return [{ code: 'E_VALUE', path, message, hint: 'give each its own' }]
  })
}
