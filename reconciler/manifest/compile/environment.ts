import { formatPath, problemsOf } from '../../../api/contract/problem.ts'
import { ExpectedFailure } from '../../run/failure.ts'
import { formatProblem, type ManifestProblem } from '../manifestProblem.ts'
import { type Mapping, mappingOf } from '../mapping.ts'
import { knownFieldsAt, unknownFieldHint } from '../schema/knownFields.ts'
import { type EnvironmentManifest, environmentManifestSchema } from '../schema/serviceManifest.ts'
import { suggestionFor } from '../suggestion.ts'
import type { Variable } from '../values/variables.ts'
import type { Document } from './document.ts'
import { describeProblems } from './fieldProblem.ts'
import { nameOf, type Origin, placeIn } from './origin.ts'
import { patchedEndpoints, withoutRemovedHeaders } from './patchedEndpoints.ts'
import { indexOfPatches, type PatchIndex } from './patches.ts'

/** An Environment document; `manifest` is undefined when it is invalid. */
export interface ReadEnvironment {
  readonly document: Document
  readonly name: string | undefined
  readonly manifest: EnvironmentManifest | undefined
  readonly problems: readonly ManifestProblem[]
}

/** The Environment of --env, as far as it is valid. */
export interface ChosenEnvironment {
  /** Whether every service is unusable, because the variables and patches for it are unknown. */
  readonly isFaulty: boolean
  readonly variables: ReadonlyMap<string, Variable>
  readonly document: Document | undefined
  readonly patches: PatchIndex
}

const NONE: Omit<ChosenEnvironment, 'isFaulty'> = {
  variables: new Map(),
  document: undefined,
  patches: indexOfPatches([]),
}

/** --env names an Environment that does not exist. */
export class UnknownEnvironment extends ExpectedFailure {
  override readonly name = 'UnknownEnvironment'
  readonly code = 'E_USAGE'
}

/** Reads an Environment, also one that --env does not name. */
export function readEnvironment(document: Document): ReadEnvironment {
  const { data: manifest, error } = environmentManifestSchema.safeParse(document.mapping)
  const problems =
    manifest === undefined
      ? describeProblems(problemsOf(error), { own: document, defaults: [] }, document.mapping)
      : unknownPatchFields(document, manifest)
  return { document, name: nameOf(document), manifest, problems }
}

/**
 * The one of `environments` with the name `name`; without a name there are no variables and patches. `unread` are
 * problems of documents that may be Environments. Throws UnknownEnvironment.
 */
export function chooseEnvironment(
  environments: readonly ReadEnvironment[],
  name: string | undefined,
  unread: readonly ManifestProblem[],
): ChosenEnvironment {
  if (name === undefined) return { ...NONE, isFaulty: false }
  const [found, ...others] = environments.filter((one) => one.name === name)
  if (found === undefined) {
    const names = environments.flatMap((one) => one.name ?? [])
    const nameless = environments.flatMap((one) => (one.name === undefined ? one.problems : []))
    throw unknown(name, names, [...unread, ...nameless])
  }
  const { document, manifest } = found
  if (manifest === undefined) return { ...NONE, isFaulty: true }
  return {
    isFaulty: document.faulty || others.length > 0,
    variables: new Map(Object.entries(manifest.spec?.vars ?? {})),
    document,
    patches: indexOfPatches(manifest.spec?.patches ?? []),
  }
}

/** Problems of fields in patches that no Service has. */
function unknownPatchFields(document: Document, { spec }: EnvironmentManifest): readonly ManifestProblem[] {
  return (spec?.patches ?? []).flatMap(({ patch }, index) =>
    (['spec', 'policy'] as const).flatMap((part) => {
      const known = knownFieldsAt('Service', [part])
      const unknown = Object.keys(patch[part] ?? {}).filter((field) => !known.includes(field))
      return unknown.map((field): ManifestProblem => {
        const path = ['spec', 'patches', index, 'patch', part, field]
        return {
          code: 'E_UNKNOWN_FIELD',
          ...placeIn({ own: document, defaults: [] }, path, 'key'),
          message: `${formatPath(path)} is not a known field`,
          hint: unknownFieldHint('Service', [part], field),
        }
      })
    }),
  )
}

/** Warnings about patches of any Environment whose target matches none of `services`. */
export function unusedPatchWarnings(
  environments: readonly ReadEnvironment[],
  services: readonly Document[],
): readonly ManifestProblem[] {
  return environments.flatMap(({ document, manifest }) => {
    const patches = manifest?.spec?.patches ?? []
    const index = indexOfPatches(patches)
    const busy = new Set(services.flatMap(({ mapping }) => index(mapping).map((one) => one.index)))
    return patches.flatMap((_, at): readonly ManifestProblem[] => {
      if (busy.has(at)) return []
      const place = placeIn({ own: document, defaults: [] }, ['spec', 'patches', at, 'target'], 'value')
      const message = `spec.patches[${at}].target matches no service of these manifests, so the patch changes nothing`
      const hint = 'correct the name or the labels, or remove the patch'
      return [{ code: 'W_PATCH_TARGET', ...place, message, hint }]
    })
  })
}

function unknown(
  name: string,
  names: readonly string[],
  [problem]: readonly ManifestProblem[],
): UnknownEnvironment {
  const unless =
    problem === undefined ? '' : `, unless a file with a problem has it: ${formatProblem(problem)}`
  if (names.length === 0)
    return new UnknownEnvironment(`--env ${name}: there is no document of kind Environment${unless}`)
  const meant = suggestionFor(name, names)
  const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
  return new UnknownEnvironment(`--env ${name}: there is no Environment of that name (${hint})${unless}`)
}

/**
 * `service` with the endpoints of the patches of `chosen` that target it, and the places of the patches. Runs before
 * Defaults, so that `endpointsDefaults` apply to patched endpoints too. Pure.
 */
export function withPatchedEndpoints(
  service: Mapping,
  { document, patches }: ChosenEnvironment,
): { readonly mapping: Mapping; readonly patches: NonNullable<Origin['patches']> } {
  if (document === undefined) return { mapping: service, patches: [] }
  const applied: NonNullable<Origin['patches']>[number][] = []
  let mapping = service
  for (const { index, patch } of patches(service)) {
    const spec = mappingOf(mapping.spec)
    const endpoints = patchedEndpoints(spec?.endpoints, patch.spec?.endpoints)
    if (endpoints !== undefined) mapping = { ...mapping, spec: { ...spec, endpoints: endpoints.list } }
    const at = ['spec', 'patches', index, 'patch']
    applied.push({ document, at, ...(endpoints === undefined ? {} : { endpoints: endpoints.places }) })
  }
  return { mapping, patches: applied }
}

/** `service`, merged with its Defaults, with all other parts of its patches. Pure. */
export function withPatches(service: Mapping, { patches }: ChosenEnvironment): Mapping {
  const applied = patches(service)
  if (applied.length === 0) return service
  const own = mappingOf(service.spec)
  const endpoints = withoutRemovedHeaders(own?.endpoints)
  const start = endpoints === undefined ? service : { ...service, spec: { ...own, endpoints } }
  return applied.reduce<Mapping>((mapping, { patch }) => {
    const { endpoints: _, ...spec } = patch.spec ?? {}
    const merged = mergePatch(mapping, { ...patch, ...(patch.spec === undefined ? {} : { spec }) })
    return mappingOf(merged) ?? mapping
  }, start)
}

/** RFC 7396: mappings merge, null removes, everything else replaces. */
function mergePatch(value: unknown, patch: unknown): unknown {
  const changes = mappingOf(patch)
  if (changes === undefined) return patch
  const merged = new Map(Object.entries(mappingOf(value) ?? {}))
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) merged.delete(key)
    else if (change !== undefined) merged.set(key, mergePatch(merged.get(key), change))
  }
  return Object.fromEntries(merged)
}
