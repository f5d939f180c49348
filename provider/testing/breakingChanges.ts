import type { SchemaDocument } from '../docs/schemaDocument.ts'

/** The parts of an attribute in a schema document that affect compatibility. */
interface Entry {
  readonly type?: unknown
  readonly nested_type?: { readonly attributes: Entries; readonly nesting_mode: string }
  readonly required?: boolean
  readonly optional?: boolean
}
type Entries = Readonly<Record<string, Entry>>
interface TypeEntry {
  readonly version: number
  readonly block: { readonly attributes: Entries }
}
type TypeEntries = Readonly<Record<string, TypeEntry>>

/** Sections of a document whose types users name in configuration. */
const KINDS = ['resource_schemas', 'data_source_schemas', 'list_resource_schemas'] as const

/**
 * The incompatible changes from `before` to `after` for existing configuration and state, as sentences; empty when
 * everything still works. Both documents are results of `schemaDocument`. When the schema version of a resource
 * increased, its attributes are not compared, because its upgraders handle them. Pure.
 */
export function breakingChanges(before: SchemaDocument, after: SchemaDocument): readonly string[] {
  const [old, now] = [providerIn(before), providerIn(after)]
  const types = KINDS.flatMap((kind) =>
    Object.entries(old[kind] ?? {}).flatMap(([name, entry]) => {
      const current = now[kind]?.[name]
      if (current === undefined) return [`${kind}: ${name} is gone`]
      if (current.version > entry.version) return []
      return attributeBreaks(entry.block.attributes, current.block.attributes, name)
    }),
  )
  const functions = Object.entries(old.functions ?? {}).flatMap(([name, signature]) =>
    sameJson(shapeOf(signature), shapeOf(now.functions?.[name]))
      ? []
      : [`function ${name} is gone or has another signature`],
  )
  return [
    ...attributeBreaks(old.provider.block.attributes, now.provider.block.attributes, 'provider'),
    ...types,
    ...functions,
  ]
}

type ProviderEntry = { readonly provider: TypeEntry; readonly functions?: Record<string, Signature> } & {
  readonly [kind in (typeof KINDS)[number]]?: TypeEntries
}
interface Signature {
  readonly parameters: readonly { readonly type: unknown }[]
  readonly return_type: unknown
}

function providerIn({ provider_schemas }: SchemaDocument): ProviderEntry {
  // True because every document has the one provider that `schemaDocument` writes.
  const [entry] = Object.values(provider_schemas as Record<string, ProviderEntry>)
  if (entry === undefined) throw new Error('the document has no provider')
  return entry
}

const shapeOf = (signature: Signature | undefined): unknown => [
  signature?.parameters.map(({ type }) => type),
  signature?.return_type,
]

function attributeBreaks(before: Entries, after: Entries, path: string): readonly string[] {
  const removed = Object.entries(before).flatMap(([name, old]) => {
    const at = `${path}.${name}`
    const now = after[name]
    if (now === undefined) return [`${at} is gone`]
    return [
      ...(sameJson([old.type, old.nested_type?.nesting_mode], [now.type, now.nested_type?.nesting_mode])
        ? attributeBreaks(old.nested_type?.attributes ?? {}, now.nested_type?.attributes ?? {}, at)
        : [`${at} has another type`]),
      ...(now.required === true && old.required !== true ? [`${at} became required`] : []),
      ...(isConfigurable(old) && !isConfigurable(now) ? [`${at} can no longer be configured`] : []),
    ]
  })
  const demanded = Object.entries(after)
    .filter(([name, { required }]) => required === true && before[name] === undefined)
    .map(([name]) => `${path}.${name} is new and required`)
  return [...removed, ...demanded]
}

const isConfigurable = ({ required, optional }: Entry): boolean => required === true || optional === true

/** Whether two parts of documents are equal. Types are arrays of names, and objects have ordered keys. */
function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
