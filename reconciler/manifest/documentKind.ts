import { formatPath } from '../../api/contract/problem.ts'
import { type Mapping, mappingOf } from './defaults.ts'
import { IMPOSSIBLE_NAME } from './fieldProblem.ts'
import type { ManifestProblem } from './manifestProblem.ts'
import { positionsOf } from './origin.ts'
import type { ManifestPath } from './position.ts'
import type { ManifestDocument, ManifestFile } from './readYaml.ts'
import { API_VERSION, KINDS } from './serviceManifest.ts'
import { suggestionFor } from './suggestion.ts'

/** A document that is a mapping of a known kind. */
export interface Document {
  readonly source: ManifestFile
  readonly index: number
  readonly mapping: Mapping
  readonly faulty: boolean
}

/** Documents by kind, and the problems of those that have none. */
export interface ClassifiedDocuments {
  readonly services: readonly Document[]
  readonly defaults: readonly Document[]
  readonly environments: readonly Document[]
  readonly problems: readonly ManifestProblem[]
}

/** Sorts documents by their `kind`; one without a kind that we know is a problem, never skipped. Pure. */
export function classifyDocuments(documents: readonly ManifestDocument[]): ClassifiedDocuments {
  const services: Document[] = []
  const defaults: Document[] = []
  const environments: Document[] = []
  const problems: ManifestProblem[] = []
  for (const { source, index, value, faulty } of documents) {
    const mapping = mappingOf(value)
    const problem = mapping === undefined ? notAMapping() : kindProblem(mapping)
    if (problem !== undefined || mapping === undefined) {
      const { path, ...rest } = problem ?? notAMapping()
      const at = positionsOf(source).locate(index, path, 'value')
      problems.push({ ...rest, file: source.file, ...at })
    } else {
      const list = { Service: services, Defaults: defaults, Environment: environments }
      const kind = KINDS.find((known) => known === mapping.kind) ?? 'Service'
      const impossible = hasImpossibleKey(mapping) ? impossibleKeys(mapping, []) : []
      problems.push(...impossible.map((path) => impossibleKeyProblem(source, index, path)))
      list[kind].push({ source, index, mapping, faulty: faulty || impossible.length > 0 })
    }
  }
  return { services, defaults, environments, problems }
}

/** Whether `impossibleKeys` has anything to find: most documents have no such key, and need no paths. */
function hasImpossibleKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasImpossibleKey)
}

/** Paths of keys that no object of JavaScript keeps reliably: a schema would drop them without a word. */
function impossibleKeys(value: unknown, path: ManifestPath): readonly ManifestPath[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => impossibleKeys(item, [...path, index]))
  const mapping = mappingOf(value)
  if (mapping === undefined) return []
  return Object.entries(mapping).flatMap(([key, inner]) =>
    key === '__proto__' ? [[...path, key]] : impossibleKeys(inner, [...path, key]),
  )
}

function impossibleKeyProblem(source: ManifestFile, index: number, path: ManifestPath): ManifestProblem {
  return {
    code: 'E_UNKNOWN_FIELD',
    file: source.file,
    ...positionsOf(source).locate(index, path, 'key'),
    message: `${formatPath(path)} is not a known field`,
    hint: IMPOSSIBLE_NAME,
  }
}

type Unplaced = Pick<ManifestProblem, 'code' | 'message' | 'hint'> & { readonly path: ManifestPath }

function notAMapping(): Unplaced {
  return { code: 'E_KIND', message: 'the document is not a mapping', hint: SKELETON, path: [] }
}

const SKELETON = `a manifest starts with apiVersion: ${API_VERSION} and kind: Service`

function kindProblem(mapping: Mapping): Unplaced | undefined {
  const { apiVersion, kind } = mapping
  if (apiVersion === undefined) {
    const message = 'apiVersion is missing: this is no Pharos manifest'
    return {
      code: 'E_API_VERSION',
      message,
      hint: `${SKELETON}; keep other YAML out of this folder`,
      path: [],
    }
  }
  if (apiVersion !== API_VERSION) {
    return { code: 'E_API_VERSION', message: `apiVersion must be ${API_VERSION}`, path: ['apiVersion'] }
  }
  if (kind === undefined) return { code: 'E_KIND', message: 'kind is missing', hint: SKELETON, path: [] }
  if (KINDS.some((known) => known === kind)) return undefined
  const meant = typeof kind === 'string' ? suggestionFor(kind, KINDS) : undefined
  return {
    code: 'E_KIND',
    message: `kind must be one of ${KINDS.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `did you mean ${meant}?` }),
    path: ['kind'],
  }
}
