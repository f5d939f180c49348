import * as z from 'zod'
import { mappingOf } from '../mapping.ts'
import { FIELD_DESCRIPTIONS, type FieldDescription } from './fieldDescriptions.ts'
import {
  defaultsManifestSchema,
  environmentManifestSchema,
  KINDS,
  serviceDocumentSchema,
} from './serviceManifest.ts'

/** Matches a text with a reference to a variable. */
const VARIABLE_PATTERN = String.raw`\$\{var\.[A-Za-z_]`

/**
 * The id of the schema. The address is a placeholder: a team that publishes the schema replaces it, here and in the catalogue.
 */
export const SCHEMA_ADDRESS = 'https://pharos.example.com/docs/manifest.schema.json'

type Node = Readonly<Record<string, unknown>>

/**
 * The JSON Schema (draft-7, which every editor supports) of one manifest document as written: fields that Defaults may give
 * are optional, and below `spec` and `policy` any value may be a text with a variable. Pure.
 */
export function manifestJsonSchema(): object {
  const options = [serviceDocumentSchema, defaultsManifestSchema, environmentManifestSchema]
  const documents = options.map((document, index): Node => {
    const schema = z.toJSONSchema(document, { target: 'draft-7', io: 'input', unrepresentable: 'any' })
    const { $schema: _, ...rest } = schema
    return written(rest, { kind: KINDS[index] ?? 'Service', path: [] })
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: SCHEMA_ADDRESS,
    title: 'Pharos manifest',
    description: 'One document of a set of manifests: a Service, Defaults or an Environment.',
    anyOf: documents,
  }
}

/** The place of a part of the schema. */
interface Site {
  readonly kind: string
  readonly path: readonly string[]
}

function written(schema: Node, site: Site): Node {
  const nodes = Object.entries(schema).map(([keyword, value]) => [keyword, below(keyword, value, site)])
  return withVariables(Object.fromEntries(nodes), site)
}

function below(keyword: string, value: unknown, site: Site): unknown {
  const node = mappingOf(value)
  switch (keyword) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(node ?? {}).map(([name, inner]) => [
          name,
          field(inner, { ...site, path: [...site.path, name] }),
        ]),
      )
    case 'additionalProperties':
      return node === undefined ? value : field(node, { ...site, path: [...site.path, '*'] })
    case 'items':
      if (Array.isArray(value)) return value.map((item) => written(mappingOf(item) ?? {}, site))
      return node === undefined ? value : written(node, site)
    case 'anyOf':
      return Array.isArray(value) ? value.map((option) => written(mappingOf(option) ?? {}, site)) : value
    default:
      return value
  }
}

function field(value: unknown, site: Site): Node {
  return { ...descriptionOf(site), ...written(mappingOf(value) ?? {}, site) }
}

/** The description of the field at `site`; undefined for fields of the API below `raw`. Pure. */
export function descriptionOf({ kind, path }: Site): FieldDescription | undefined {
  if (path.slice(0, -1).includes('raw')) return undefined
  const joined = path.join('.').replace('spec.endpointsDefaults.', 'spec.endpoints.')
  const known = FIELD_DESCRIPTIONS
  return known[`${kind}.${joined}`] ?? known[joined] ?? known[path.at(-1) ?? '']
}

/** Variables in spec and policy are replaced before types are checked. */
function withVariables(schema: Node, { kind, path }: Site): Node {
  const [section] = path
  if (kind === 'Environment' || (section !== 'spec' && section !== 'policy')) return schema
  const { pattern, type } = schema
  if (typeof pattern === 'string') return { ...schema, pattern: `(?:${pattern})|${VARIABLE_PATTERN}` }
  const types = Array.isArray(type) ? type : [type]
  if (schema.enum === undefined && !types.some((one) => SCALARS.has(one))) return schema
  return { anyOf: [schema, { type: 'string', pattern: VARIABLE_PATTERN }] }
}

const SCALARS: ReadonlySet<unknown> = new Set(['boolean', 'integer', 'number'])
