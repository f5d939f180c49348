import type { SchemaDocument } from '../docs/schemaDocument.ts'

/** As much of an attribute of a schema document as compatibility is about. */
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

/** Parts of a document whose types users name in configuration. */
const KINDS = ['resource_schemas', 'data_source_schemas', 'list_resource_schemas'] as const

/**
 * What a configuration or a state that fits `before` does not find in `after` any more, as sentences; empty when
 * everything that was written still works. Both as `schemaDocument` makes them. Attributes of a resource whose schema
 * version rose are not compared: its upgraders answer for them. Pure.
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
      : [`function ${name} is gone or called otherwise`],
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
  // True because every document has the one provider that `schemaDocument` puts there.
  const [entry] = Object.values(provider_schemas as Record<string, ProviderEntry>)
  if (entry === undefined) throw new Error('the document has no provider')
  return entry
}

const shapeOf = (signature: Signature | undefined): unknown => [
  signature?.parameters.map(({ type }) => type),
  signature?.return_type,
]

function attributeBreaks(before: Entries, after: Entries, path: string): readonly string[] {
  const gone = Object.entries(before).flatMap(([name, old]) => {
    const at = `${path}.${name}`
    const now = after[name]
    if (now === undefined) return [`${at} is gone`]
    return [
      ...(sameJson([old.type, old.nested_type?.nesting_mode], [now.type, now.nested_type?.nesting_mode])
        ? attributeBreaks(old.nested_type?.attributes ?? {}, now.nested_type?.attributes ?? {}, at)
        : [`${at} has another type`]),
      ...(now.required === true && old.required !== true ? [`${at} became required`] : []),
      ...(isConfigurable(old) && !isConfigurable(now) ? [`${at} can be configured no more`] : []),
    ]
  })
  const demanded = Object.entries(after)
    .filter(([name, { required }]) => required === true && before[name] === undefined)
    .map(([name]) => `${path}.${name} is new and required`)
  return [...gone, ...demanded]
}

const isConfigurable = ({ required, optional }: Entry): boolean => required === true || optional === true

/** Whether two parts of documents say the same: types are arrays of names, and objects in the order of their keys. */
function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
