import { formatPath } from '../../../api/contract/problem.ts'
import type { DocumentOrigin, ManifestProblem, Place } from '../manifestProblem.ts'
import { mappingOf } from '../mapping.ts'
import { type ManifestPath, Positions } from '../read/position.ts'
import type { ManifestFile } from '../read/readYaml.ts'
import { isManifestName, KINDS } from '../schema/serviceManifest.ts'
import type { Document } from './document.ts'
import type { EndpointPlaces } from './patchedEndpoints.ts'

/** The documents of one service: its own, its Defaults, outermost first, and its patches. */
export interface Origin {
  readonly own: Document
  readonly defaults: readonly Document[]
  /** Patches of the chosen Environment that apply, in order. */
  readonly patches?: readonly PatchOrigin[]
}

/** The place of a patch. */
export interface PatchOrigin {
  readonly document: Document
  /** Path of the patch in its document. */
  readonly at: ManifestPath
  /** The endpoints that it wrote; absent for none. */
  readonly endpoints?: EndpointPlaces
}

const positionsByFile = new WeakMap<ManifestFile, Positions>()

/** The positions in `source`, determined once for each file with a problem. */
export function positionsOf(source: ManifestFile): Positions {
  const known = positionsByFile.get(source)
  if (known !== undefined) return known
  const positions = new Positions(source.text)
  positionsByFile.set(source, positions)
  return positions
}

/**
 * The place of the value at `path` of a merged service: in a patch, its own document, or else the nearest Defaults. A
 * missing value is placed in the service's own document.
 */
export function placeIn(origin: Origin, path: ManifestPath, part: 'key' | 'value'): Place {
  const written = writtenAt(origin, path)
  return place(written.document, written.path, part)
}

/** A problem of the value at `path` of a merged service. */
export type PathProblem = Pick<ManifestProblem, 'code' | 'message' | 'hint'> & { readonly path: ManifestPath }

/** The problem at `path` of a merged service, with its place; the message begins with the path in the document. */
export function problemIn(origin: Origin, { path, message, ...problem }: PathProblem): ManifestProblem {
  const placed = `${formatPath(pathIn(origin, path))} ${message}`
  return { ...problem, ...placeIn(origin, path, 'value'), message: placed }
}

/** The path of the value at `path` of a merged service in the document that contains it. */
export function pathIn(origin: Origin, path: ManifestPath): ManifestPath {
  return writtenAt(origin, path).path
}

function writtenAt(origin: Origin, path: ManifestPath): { document: Document; path: ManifestPath } {
  // The patch that wrote the whole endpoint, if any.
  let replaced: { document: Document; path: ManifestPath } | undefined
  for (const patch of (origin.patches ?? []).toReversed()) {
    const inPatch = patchPathOf(path, patch)
    if (inPatch !== undefined && hasPath(patch.document.mapping, inPatch))
      return { document: patch.document, path: inPatch }
    if (inPatch === undefined || !isBelowEndpoints(path)) continue
    const isReplaced = patch.endpoints?.isReplaced === true
    // An endpoint that only patches have was written by the first of them.
    if (isReplaced || !hasPath(origin.own.mapping, path.slice(0, 3)))
      replaced = { document: patch.document, path: inPatch }
    if (isReplaced) break
  }
  if (replaced === undefined && hasPath(origin.own.mapping, path)) return { document: origin.own, path }
  for (const document of origin.defaults.toReversed()) {
    const inDefaults = defaultsPathOf(path)
    for (const candidate of [path, inDefaults]) {
      if (hasPath(document.mapping, candidate)) return { document, path: candidate }
    }
  }
  return replaced ?? { document: origin.own, path }
}

function isBelowEndpoints([spec, field]: ManifestPath): boolean {
  return spec === 'spec' && field === 'endpoints'
}

/** The path in `patch` of the value at `path` of the merged service; `undefined` if it did not write that endpoint. */
function patchPathOf(path: ManifestPath, { at, endpoints }: PatchOrigin): ManifestPath | undefined {
  const [, , index, ...rest] = path
  if (!isBelowEndpoints(path) || typeof index !== 'number') return [...at, ...path]
  const inPatch = endpoints?.indexes[index]
  return inPatch === undefined ? undefined : [...at, 'spec', 'endpoints', inPatch, ...rest]
}

function place(document: Document, path: ManifestPath, part: 'key' | 'value'): Place {
  return {
    file: document.source.file,
    ...positionsOf(document.source).locate(document.index, path, part),
    origin: originOf(document),
  }
}

function originOf(document: Document): DocumentOrigin {
  return {
    kind: KINDS.find((kind) => kind === document.mapping.kind) ?? 'Service',
    name: nameOf(document) ?? null,
    document: document.index,
  }
}

/** The `metadata.name` of a document, if it is valid. Pure. */
export function nameOf({ mapping }: Document): string | undefined {
  const name = mappingOf(mapping.metadata)?.name
  return typeof name === 'string' && isManifestName(name) ? name : undefined
}

/** `spec.endpoints[2].timeout` is `spec.endpointsDefaults.timeout` in Defaults. */
function defaultsPathOf(path: ManifestPath): ManifestPath {
  const [spec, field, index, ...rest] = path
  if (spec !== 'spec' || field !== 'endpoints' || index === undefined || rest.length === 0) return path
  return ['spec', 'endpointsDefaults', ...rest]
}

function hasPath(value: unknown, path: ManifestPath): boolean {
  const [step, ...rest] = path
  if (step === undefined) return true
  if (Array.isArray(value))
    return typeof step === 'number' && step < value.length && hasPath(value[step], rest)
  const mapping = mappingOf(value)
  return mapping !== undefined && Object.hasOwn(mapping, step) && hasPath(mapping[step], rest)
}
