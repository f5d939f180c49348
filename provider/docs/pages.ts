import type { Provider } from '../protocol/authoring/provider.ts'
import type { AnyFunction } from '../protocol/authoring/providerFunction.ts'
import { type Attribute, type Attributes, isNested, type Schema } from '../protocol/authoring/schema.ts'
import type { Type } from '../protocol/values/type.ts'

/** A page of the reference: path below its folder, and text. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** Text of an example by its name, `undefined` when there is none of this name. */
export type Examples = (name: string) => string | undefined

/** Which example shows which type best. */
const EXAMPLE_OF: Readonly<Record<string, string>> = {
  'resources/pharos_service': 'secrets',
  'resources/pharos_incident': 'incident',
  'data-sources/pharos_services': 'lookup',
  'data-sources/pharos_regions': 'lookup',
}

const GENERATED = '<!-- Written by "npm run bindings" from the schema: change that instead. -->'

/** The reference of `provider`: a page for itself and one for each resource, data source, list and function. Pure. */
export function referencePages(provider: Provider, examples: Examples): readonly Page[] {
  const kinds = [
    { folder: 'resources', title: 'Resource', types: provider.resources },
    { folder: 'data-sources', title: 'Data source', types: provider.dataSources },
    { folder: 'list-resources', title: 'List resource', types: provider.lists },
  ] as const
  const typePages = kinds.flatMap(({ folder, title, types }) =>
    [...types].map(([name, { handlers }]) => ({
      path: `${folder}/${name}.md`,
      text: typePage(`${title} ${name}`, handlers.schema, exampleFor(`${folder}/${name}`, examples)),
    })),
  )
  const links = kinds.flatMap(({ folder, title, types }) =>
    [...types].map(([name, { handlers }]) => {
      const { description = '' } = handlers.schema
      return `| [\`${name}\`](${folder}/${name}.md) | ${title.toLowerCase()} | ${cell(description)} |`
    }),
  )
  const functionLinks = [...provider.functions].map(
    ([name, { summary }]) => `| [\`${name}\`](functions/${name}.md) | function | ${cell(summary)}. |`,
  )
  const functionPages = [...provider.functions].map(([name, definition]) => ({
    path: `functions/${name}.md`,
    text: functionPage(provider.name, name, definition),
  }))
  const index = `${GENERATED}

# Provider ${provider.name}

${provider.schema.description ?? ''} How to install and use it: [Terraform](../terraform.md).

## Configuration

${table(provider.schema.attributes)}

## What it has

| name | | |
| --- | --- | --- |
${[...links, ...functionLinks].join('\n')}
`
  return [{ path: 'index.md', text: index }, ...typePages, ...functionPages]
}

function functionPage(provider: string, name: string, definition: AnyFunction): string {
  const { summary, description, parameters, returns } = definition
  const signature = `provider::${provider}::${name}(${parameters.map((parameter) => parameter.name).join(', ')})`
  const parameterRows = parameters.map(
    (parameter) => `| \`${parameter.name}\` | ${nameOf(parameter.type)} | ${cell(parameter.description)} |`,
  )
  return `${GENERATED}

# Function ${name}

${summary}. ${description}

\`\`\`hcl
${signature}
\`\`\`

| parameter | type | |
| --- | --- | --- |
${parameterRows.join('\n')}

Returns: ${nameOf(returns)}.
`
}

function exampleFor(key: string, examples: Examples): string | undefined {
  const name = EXAMPLE_OF[key]
  if (name === undefined) return undefined
  const text = examples(name)
  if (text === undefined) throw new Error(`there is no example ${name}, which the page ${key} shows`)
  return text
}

function typePage(title: string, schema: Schema, example: string | undefined): string {
  const exampleSection =
    example === undefined ? '' : `\n## Example\n\n\`\`\`hcl\n${example.trimEnd()}\n\`\`\`\n`
  return `${GENERATED}

# ${title}

${schema.description ?? ''}
${exampleSection}
## Attributes

${table(schema.attributes)}
`
}

function table(attributes: Attributes): string {
  return `| attribute | type | | |\n| --- | --- | --- | --- |\n${rows(attributes, '').join('\n')}`
}

/** A row for each attribute, required ones first, those inside a nested one below it. */
function rows(attributes: Attributes, prefix: string): readonly string[] {
  const rank = (attribute: Attribute): number =>
    attribute.required === true ? 0 : attribute.optional === true ? 1 : 2
  return Object.entries(attributes)
    .sort(([a, first], [b, second]) => rank(first) - rank(second) || (a < b ? -1 : 1))
    .flatMap(([name, attribute]) => {
      const path = `${prefix}${name}`
      const { description = '' } = attribute
      const row = `| \`${path}\` | ${typeText(attribute)} | ${useText(attribute)} | ${cell(description)} |`
      return isNested(attribute)
        ? [row, ...rows(attribute.attributes, `${path}${STEP[attribute.nesting]}`)]
        : [row]
    })
}

const STEP = { single: '.', list: '[].', set: '[].', map: '{}.' } as const

function typeText(attribute: Attribute): string {
  if (!isNested(attribute)) return nameOf(attribute.type)
  return attribute.nesting === 'single' ? 'object' : `${attribute.nesting} of objects`
}

function nameOf(type: Type): string {
  if (typeof type === 'string') return type
  if ('list' in type) return `list of ${nameOf(type.list)}`
  if ('set' in type) return `set of ${nameOf(type.set)}`
  if ('map' in type) return `map of ${nameOf(type.map)}`
  return `object { ${Object.entries(type.object)
    .map(([name, inner]) => `${name}: ${nameOf(inner)}`)
    .join(', ')} }`
}

function useText(attribute: Attribute): string {
  const { required, optional, computed, writeOnly, sensitive, requiresReplace } = attribute
  const use = required === true ? 'required' : optional === true ? 'optional' : 'read-only'
  const flags = [
    ...(optional === true && computed === true ? ['computed'] : []),
    ...(writeOnly === true ? ['write-only'] : []),
    ...(sensitive === true ? ['sensitive'] : []),
    ...(requiresReplace === true ? ['replaces'] : []),
  ]
  return [use, ...flags].join(', ')
}

/** Text as a cell of a table: one line without bars. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')
}
