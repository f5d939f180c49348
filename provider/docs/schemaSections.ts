import { type Attribute, type Attributes, isNested } from '../protocol/authoring/schema.ts'
import type { Type } from '../protocol/values/type.ts'

const SECTIONS = ['Required', 'Optional', 'Read-Only'] as const

interface Nested {
  readonly path: string
  readonly attributes: Attributes
}

/** The attributes of a schema under the headings of terraform-plugin-docs, nested ones in sections of their own. Pure. */
export function schemaSections(attributes: Attributes): string {
  const nested: Nested[] = []
  const sections = [attributeLists(attributes, '', nested)]
  // The list grows while it is read: sections follow those that name them.
  for (const { path, attributes: inner } of nested) {
    const lists = attributeLists(inner, `${path}.`, nested)
    sections.push(`<a id="${anchor(path)}"></a>\n### Nested Schema for \`${path}\`\n\n${lists}`)
  }
  return sections.join('\n\n')
}

/** The Markdown lists of `attributes`; those with attributes of their own are added to `nested`. */
function attributeLists(attributes: Attributes, prefix: string, nested: Nested[]): string {
  const entries = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))
  return SECTIONS.flatMap((section) => {
    const lines = entries
      .filter(([, attribute]) => sectionOf(attribute) === section)
      .map(([name, attribute]) => {
        const path = `${prefix}${name}`
        const more = isNested(attribute) ? ` (see [below for nested schema](#${anchor(path)}))` : ''
        if (isNested(attribute)) nested.push({ path, attributes: attribute.attributes })
        const { description = '' } = attribute
        return `- \`${name}\` (${factsOf(attribute)}) ${description.replaceAll(/\s+/g, ' ')}${more}`
      })
    const heading = prefix === '' ? `### ${section}` : `${section}:`
    return lines.length === 0 ? [] : [`${heading}\n\n${lines.join('\n')}`]
  }).join('\n\n')
}

function sectionOf({ required, optional }: Attribute): (typeof SECTIONS)[number] {
  return required === true ? 'Required' : optional === true ? 'Optional' : 'Read-Only'
}

const anchor = (path: string): string => `nestedatt--${path.replaceAll('.', '--')}`

/** Type and properties of an attribute in the form of terraform-plugin-docs. */
function factsOf(attribute: Attribute): string {
  const { sensitive, writeOnly, requiresReplace } = attribute
  const flags = [
    ...(sensitive === true ? ['Sensitive'] : []),
    ...(writeOnly === true ? ['Write-only'] : []),
    ...(requiresReplace === true ? ['Forces new resource'] : []),
  ]
  return [typeText(attribute), ...flags].join(', ')
}

const NESTING = {
  single: 'Attributes',
  list: 'Attributes List',
  set: 'Attributes Set',
  map: 'Attributes Map',
} as const

function typeText(attribute: Attribute): string {
  if (isNested(attribute)) return NESTING[attribute.nesting]
  return titled(typeName(attribute.type))
}

/** A type in the capitalisation of terraform-plugin-docs: `List of String`. Pure. */
export function titled(type: string): string {
  return type.replaceAll(/^[a-z]|(?<=\bof )[a-z]/g, (letter) => letter.toUpperCase())
}

/** The name of a type in Terraform's documentation. Pure. */
export function typeName(type: Type): string {
  if (type === 'bool') return 'boolean'
  if (typeof type === 'string') return type
  if ('list' in type) return `list of ${typeName(type.list)}`
  if ('set' in type) return `set of ${typeName(type.set)}`
  if ('map' in type) return `map of ${typeName(type.map)}`
  const fields = Object.entries(type.object).map(([name, inner]) => `${name} = ${typeName(inner)}`)
  return `object({ ${fields.join(', ')} })`
}
