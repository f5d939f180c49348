import { problemsOf } from '../../../api/contract/problem.ts'
import { grouped } from '../../plan/grouped.ts'
import { type ManifestProblem, sortedProblems } from '../manifestProblem.ts'
import { type Mapping, mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import type { ManifestDocument } from '../read/readYaml.ts'
import {
  defaultsManifestSchema,
  type ServiceManifest,
  serviceManifestSchema,
} from '../schema/serviceManifest.ts'
import { resolveValue, type ValueSources } from '../values/valueReference.ts'
import { substituteVariables, variableWords } from '../values/variables.ts'
import { compileService, durationOf } from './compileService.ts'
import type { DeclaredService, ReadService, ServiceSet } from './declaredService.ts'
import { foldersOf, withDefaults } from './defaults.ts'
import type { Document } from './document.ts'
import { classifyDocuments } from './documentKind.ts'
import { duplicateProblems, sameNameWarnings } from './duplicates.ts'
import {
  type ChosenEnvironment,
  chooseEnvironment,
  readEnvironment,
  unusedPatchWarnings,
  withPatchedEndpoints,
  withPatches,
} from './environment.ts'
import { describeProblems } from './fieldProblem.ts'
import { ignoredSecretProblems } from './ignoredSecrets.ts'
import { missingAssertionWarnings } from './missingAssertions.ts'
import { type Origin, placeIn, problemIn } from './origin.ts'
import { type PatternCheck, patternProblems } from './patterns.ts'
import { plaintextSecretWarnings } from './plaintextSecrets.ts'
import { withoutFields } from './withoutFields.ts'

/** The documents of each service, kept outside the value, which is compared and copied. */
const originOf = new WeakMap<DeclaredService, Origin>()

/** `problem` at the place of the value at `path` of `service`. Pure. */
export function problemAt(
  service: DeclaredService,
  path: ManifestPath,
  problem: Pick<ManifestProblem, 'code' | 'message' | 'hint'>,
): ManifestProblem {
  const origin = originOf.get(service)
  return { file: service.file, line: 1, column: 1, ...(origin && placeIn(origin, path, 'value')), ...problem }
}

/** The inputs of compileSet besides documents. */
export interface SetSources extends ValueSources {
  /** Problems of files whose documents are not known. */
  readonly unread?: readonly ManifestProblem[] | undefined
  /** Absent when the API alone checks patterns. */
  readonly isPattern?: PatternCheck | undefined
  /** Called with the number of Service documents compiled so far. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** Compiles the documents of a set. A problem excludes only the services that it affects. */
export function compileSet(
  documents: readonly ManifestDocument[],
  sources: SetSources,
  environmentName?: string,
): ServiceSet {
  const steps = compileSteps(documents, sources, environmentName)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same as compileSet, with one step for each Service document. */
export function* compileSteps(
  documents: readonly ManifestDocument[],
  sources: SetSources,
  environmentName?: string,
): Generator<undefined, ServiceSet> {
  const { services, problems, ...classified } = classifyDocuments(documents)
  const checked = classified.defaults.map(withProblems)
  const defaults = checked.map(({ document }) => document)
  const unread = [...(sources.unread ?? []), ...problems]
  const environments = classified.environments.map(readEnvironment)
  const chosen = chooseEnvironment(environments, environmentName, unread)
  const defaultsOf = grouped(defaults, ({ source }) => source.directory)
  const read: ReadService[] = []
  for (const document of services) {
    read.push(readService(document, defaultsOf, chosen, sources))
    sources.onProgress?.(read.length, services.length)
    yield
  }
  const seen = defaults.filter((document) => document.isHidden !== true)
  const duplicates = duplicateProblems(read, seen, classified.environments)
  const found = [
    ...problems,
    ...checked.flatMap((one) => one.problems),
    ...environments.flatMap((one) => one.problems),
    ...read.flatMap((one) => one.problems),
    ...duplicates.problems,
  ]
  const usable = read.flatMap((one) =>
    one.service !== undefined && !duplicates.keys.has(one.service.key) ? [one.service] : [],
  )
  const usableKeys = new Set(usable.map((service) => service.key))
  const keys = read.flatMap((one) => one.key ?? [])
  return {
    services: usable,
    frozenKeys: [...new Set(keys)].filter((key) => !usableKeys.has(key)),
    problems: sortedProblems(found),
    warnings: sortedProblems([
      ...read.flatMap((one) => one.warnings ?? []),
      ...read.flatMap((one) => (one.key !== undefined && usableKeys.has(one.key) ? (one.advice ?? []) : [])),
      ...sameNameWarnings(read, usableKeys),
      ...unusedPatchWarnings(environments, services),
    ]),
  }
}

/** Defaults with their problems, which make them faulty. */
function withProblems(document: Document) {
  const { error } = document.isHidden === true ? {} : defaultsManifestSchema.safeParse(document.mapping)
  if (error === undefined) return { document, problems: [] }
  const problems = describeProblems(problemsOf(error), { own: document, defaults: [] }, document.mapping)
  return { document: { ...document, faulty: true }, problems }
}

function readService(
  document: Document,
  defaultsOf: ReadonlyMap<string, readonly Document[]>,
  chosen: ChosenEnvironment,
  sources: SetSources,
): ReadService {
  const defaults = foldersOf(document.source.directory).flatMap((folder) => defaultsOf.get(folder) ?? [])
  const mappings = defaults.map((one) => one.mapping)
  const { mapping: patched, patches } = withPatchedEndpoints(document.mapping, chosen)
  const mapping = withPatches(withDefaults(patched, mappings), chosen)
  const origin: Origin = { own: document, defaults, patches }
  const substituted = substituteVariables(mapping, chosen.variables)
  const metadata = mappingOf(document.mapping.metadata)
  const read = { document, key: textAt(metadata, 'name'), id: textAt(metadata, 'id') }
  if (substituted.problems.length > 0) {
    const problems = substituted.problems.map(({ path, name }) =>
      problemIn(origin, { path, code: 'E_VARIABLE', ...variableWords(name, chosen.variables) }),
    )
    // The variables of an invalid Environment are unknown.
    return { ...read, service: undefined, problems: chosen.isFaulty ? [] : problems }
  }
  const parsed = serviceManifestSchema.safeParse(substituted.mapping)
  if (!parsed.success) {
    const found = problemsOf(parsed.error)
    const sound = withoutFields(
      substituted.mapping,
      found.map(({ path }) => path),
    )
    const rest = serviceManifestSchema.safeParse(sound)
    const problems = [
      ...describeProblems(found, origin, substituted.mapping),
      // Problems of the other fields are reported in the same run.
      ...(rest.success ? compileManifest(rest.data, origin, sources).problems : []),
    ]
    return { ...read, service: undefined, problems }
  }
  const compiled = compileManifest(parsed.data, origin, sources)
  const isDoubled = new Set(defaults.map(({ source }) => source.directory)).size < defaults.length
  const isFaulty = document.faulty || isDoubled || defaults.some((one) => one.faulty) || chosen.isFaulty
  return { ...read, ...compiled, ...(isFaulty ? { service: undefined } : {}) }
}

function textAt(mapping: Mapping | undefined, field: string): string | undefined {
  const value = mapping?.[field]
  return typeof value === 'string' ? value : undefined
}

function compileManifest(
  manifest: ServiceManifest,
  origin: Origin,
  sources: SetSources,
): Pick<ReadService, 'service' | 'problems' | 'warnings' | 'advice'> {
  const { directory } = origin.own.source
  const compiled = compileService(manifest, (form, part) => resolveValue(form, { part, directory }, sources))
  const { isPattern } = sources
  const patterns = isPattern === undefined ? [] : patternProblems(manifest, isPattern)
  const ignored = compiled.request === undefined ? [] : ignoredSecretProblems(manifest, compiled.request)
  const problems = [...compiled.problems, ...patterns, ...ignored].map((one) => problemIn(origin, one))
  const warnings = plaintextSecretWarnings(manifest, origin)
  if (compiled.request === undefined || patterns.length + ignored.length > 0)
    return { service: undefined, problems, warnings }
  const { metadata, spec, policy } = manifest
  const service: DeclaredService = {
    key: metadata.name,
    id: metadata.id,
    previousNames: metadata.previousNames ?? [],
    request: compiled.request,
    paused: spec.paused ?? undefined,
    policy: {
      onDelete: policy?.onDelete ?? 'delete',
      pruneAfterSecs: policy?.pruneAfter === undefined ? null : durationOf(policy.pruneAfter).secs,
      protect: policy?.protect ?? false,
      drift: policy?.drift ?? 'heal',
      ignore: policy?.ignore ?? [],
    },
    file: origin.own.source.file,
    manifest,
  }
  originOf.set(service, origin)
  return { problems, warnings, advice: missingAssertionWarnings(manifest, origin), service }
}
