import { formatPath } from '../../../api/contract/problem.ts'
import { ENVIRONMENT_LIMITS, SERVICE_LIMITS } from '../manifestLimits.ts'
import type { ManifestProblem } from '../manifestProblem.ts'
import { type Mapping, mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import { type ManifestDocument, type ManifestFile, mayContainDefaults } from '../read/readYaml.ts'
import { API_VERSION, KINDS } from '../schema/serviceManifest.ts'
import { suggestionFor } from '../suggestion.ts'
import type { Document } from './document.ts'
import { IMPOSSIBLE_NAME } from './fieldProblem.ts'
import { type PathProblem, positionsOf } from './origin.ts'

/**
 * Documents by `kind`, and problems of the others: a document without a known kind is a problem and never skipped. A hidden document stands
 * for one that seems to be Defaults, so that services are not compiled without them. Pure.
 */
export function classifyDocuments(documents: readonly ManifestDocument[]) {
  const services: Document[] = []
  const defaults: Document[] = []
  const environments: Document[] = []
  const problems: ManifestProblem[] = []
  for (const { source, index, value, faulty, isHidden } of documents) {
    const hidden: Document = { source, index, mapping: {}, faulty: true, isHidden: true }
    if (isHidden === true) {
      defaults.push(hidden)
      continue
    }
    const mapping = mappingOf(value)
    const survey = surveyOf(value)
    const problem =
      mapping === undefined ? notAMapping(value) : (sizeProblem(survey, mapping.kind) ?? kindProblem(mapping))
    if (problem !== undefined || mapping === undefined) {
      const { path, ...rest } = problem ?? notAMapping(value)
      // The place of a whole file is known without parsing it again, which would take too long for a large one.
      const isWhole = index === 0 && rest.code === 'E_LIMIT'
      const at = isWhole ? { line: 1, column: 1 } : positionsOf(source).locate(index, path, 'value')
      problems.push({ ...rest, file: source.file, ...at })
      if (isMeantAsDefaults(value)) defaults.push(hidden)
    } else {
      const list = { Service: services, Defaults: defaults, Environment: environments }
      const kind = KINDS.find((known) => known === mapping.kind) ?? 'Service'
      const impossible = survey.hasImpossibleKey ? impossibleKeys(mapping, []) : []
      for (const path of impossible) problems.push(impossibleKeyProblem(source, index, path))
      list[kind].push({ source, index, mapping, faulty: faulty || impossible.length > 0 })
    }
  }
  return { services, defaults, environments, problems }
}

/** Whether a document without a valid kind seems to be Defaults, or to contain them, as a list of documents does. */
function isMeantAsDefaults(value: unknown): boolean {
  if (mayContainDefaults(JSON.stringify(value))) return true
  const { apiVersion, kind, metadata } = mappingOf(value) ?? {}
  if (typeof kind === 'string') return suggestionFor(kind, KINDS) === 'Defaults'
  // The other kinds have a name.
  return isOurs(apiVersion) && mappingOf(metadata)?.name === undefined
}

function isOurs(apiVersion: unknown): boolean {
  return typeof apiVersion === 'string' && apiVersion.startsWith('pharos/')
}

/** Facts about a document that decide whether it may be examined further. */
interface Survey {
  values: number
  /** Items of the longest list or mapping. */
  longest: number
  /** Whether `impossibleKeys` has anything to find; saves the search in most documents. */
  hasImpossibleKey: boolean
}

function surveyOf(
  value: unknown,
  survey: Survey = { values: 0, longest: 0, hasImpossibleKey: false },
): Survey {
  survey.values += 1
  if (typeof value !== 'object' || value === null) return survey
  const items = Object.values(value)
  survey.longest = Math.max(survey.longest, items.length)
  if (Object.hasOwn(value, '__proto__')) survey.hasImpossibleKey = true
  for (const item of items) surveyOf(item, survey)
  return survey
}

function sizeProblem({ values, longest }: Survey, kind: unknown): PathProblem | undefined {
  const { itemsMax, valuesMax } = kind === 'Environment' ? ENVIRONMENT_LIMITS : SERVICE_LIMITS
  const hint = 'split it'
  if (longest > itemsMax) {
    return { code: 'E_LIMIT', message: `a list or a mapping has more than ${itemsMax} items`, hint, path: [] }
  }
  if (values <= valuesMax) return undefined
  return { code: 'E_LIMIT', message: `the document has more than ${valuesMax} values`, hint, path: [] }
}

/** Paths of keys that JavaScript objects do not keep reliably: a schema would drop them silently. */
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

function notAMapping(value: unknown): PathProblem {
  const hint = Array.isArray(value)
    ? 'make each item a document of its own, with a line --- between two'
    : SKELETON
  const message = `the document is ${Array.isArray(value) ? 'a list instead of' : 'not'} a mapping`
  return { code: 'E_KIND', message, hint, path: [] }
}

/** Part of the first key of a document in the middle of a file. */
const BYTE_ORDER_MARK = '\uFEFF'
const SKELETON = `a manifest starts with apiVersion: ${API_VERSION} and kind: Service`

function kindProblem(mapping: Mapping): PathProblem | undefined {
  const { apiVersion, kind } = mapping
  if (apiVersion === undefined) {
    const message = 'apiVersion is missing: this is not a Pharos manifest'
    const hint = Object.keys(mapping)[0]?.startsWith(BYTE_ORDER_MARK)
      ? 'remove the byte order mark at its start'
      : `${SKELETON}; move other YAML out of this folder, or list it in .pharosignore`
    return { code: 'E_API_VERSION', message, hint, path: [] }
  }
  if (apiVersion !== API_VERSION) {
    const hint = isOurs(apiVersion)
      ? 'this version of pharos supports no other version'
      : 'move other YAML out of this folder, or list it in .pharosignore'
    return { code: 'E_API_VERSION', message: `apiVersion must be ${API_VERSION}`, hint, path: ['apiVersion'] }
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
