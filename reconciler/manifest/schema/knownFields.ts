import { mappingOf } from '../mapping.ts'
import type { ManifestPath } from '../read/position.ts'
import { fold, suggestionFor } from '../suggestion.ts'
import { manifestJsonSchema } from './jsonSchema.ts'
import { KINDS, type Kind } from './serviceManifest.ts'

type Node = Readonly<Record<string, unknown>>

let documents: readonly Node[] | undefined

/** The JSON Schema of each kind, created for the first problem. */
function schemaOf(kind: Kind): Node {
  documents ??= nodesIn(mappingOf(manifestJsonSchema())?.anyOf)
  return documents[KINDS.indexOf(kind)] ?? {}
}

/** The known fields of the mapping at `path` in a document of `kind`; empty for mappings with arbitrary keys. Pure. */
export function knownFieldsAt(kind: Kind, path: ManifestPath): readonly string[] {
  const nodes = path.reduce<readonly Node[]>(
    (current, step) => current.flatMap((node) => below(node, step)),
    options(schemaOf(kind)),
  )
  return [...new Set(nodes.flatMap((node) => Object.keys(mappingOf(node.properties) ?? {})))]
}

/** The nodes at `step` below `node`, with each of their options. */
function below(node: Node, step: string | number): readonly Node[] {
  if (typeof step === 'number') {
    const items = Array.isArray(node.items) ? node.items.slice(step, step + 1) : [node.items]
    return nodesIn(items).flatMap(options)
  }
  const properties = mappingOf(node.properties) ?? {}
  const found = Object.hasOwn(properties, step) ? properties[step] : node.additionalProperties
  return nodesIn([found]).flatMap(options)
}

function options(node: Node): readonly Node[] {
  return [node, ...nodesIn(node.anyOf).flatMap(options)]
}

function nodesIn(values: unknown): readonly Node[] {
  return Array.isArray(values) ? values.map(mappingOf).filter((node) => node !== undefined) : []
}

/** Mappings to which a misplaced field may belong, with their names in messages. */
const HOMES: readonly (readonly [name: string, kind: Kind, path: ManifestPath])[] = [
  ['the top level', 'Service', []],
  ['metadata', 'Service', ['metadata']],
  ['spec', 'Service', ['spec']],
  ['an endpoint', 'Service', ['spec', 'endpoints', 0]],
  ['policy', 'Service', ['policy']],
  ['the spec of a kind: Defaults', 'Defaults', ['spec']],
]

/** Hint for the unknown `field` of the mapping at `path` in a document of `kind`. Pure. */
export function unknownFieldHint(kind: Kind, path: ManifestPath, field: string): string | undefined {
  const known = knownFieldsAt(kind, path)
  const isHere = known.some((one) => fold(one) === fold(field))
  const home = isHere ? undefined : homeOf(field)
  if (home !== undefined) return `it belongs to ${home}`
  const meant = suggestionFor(field, known)
  if (meant !== undefined) return `did you mean ${meant}?`
  return known.length === 0 ? undefined : `known here: ${known.join(', ')}`
}

function homeOf(field: string): string | undefined {
  const found = HOMES.find(([, kind, path]) => knownFieldsAt(kind, path).includes(field))
  return found?.[0]
}
