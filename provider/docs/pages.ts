import type { Provider } from '../protocol/authoring/provider.ts'
import type { AnyFunction } from '../protocol/authoring/providerFunction.ts'
import type { Schema } from '../protocol/authoring/schema.ts'
import { schemaSections, titled, typeName } from './schemaSections.ts'

/** A page of the reference: path in the layout of registries, and text. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** Text of an example by its name; `undefined` for none. */
export type Examples = (name: string) => string | undefined

/** The example of each page. */
const EXAMPLE_OF: Readonly<Record<string, string>> = {
  index: 'lookup',
  'resources/service': 'secrets',
  'resources/incident': 'incident',
  'data-sources/services': 'lookup',
  'data-sources/regions': 'lookup',
}

/** How a resource is imported: the ids that it accepts, and one of them. */
const IMPORT_OF: Readonly<Record<string, { readonly ids: string; readonly example: string }>> = {
  'resources/service': {
    ids: 'Import a service by its UUID, or by `name=` and its exact name, which must be unique',
    example: 'name=website',
  },
  'resources/incident': {
    ids: 'Import an incident by its UUID',
    example: '6f1d2f1c-95ff-4f0e-a7ab-15bb26f76f6e',
  },
}

const GENERATED = '<!-- Written by "npm run bindings" from the schema: change that instead. -->'

/** Kinds of types, with their folders and names in the registries. */
const KINDS = [
  { folder: 'resources', title: 'Resource', of: 'resources' },
  { folder: 'data-sources', title: 'Data Source', of: 'dataSources' },
  { folder: 'list-resources', title: 'List Resource', of: 'lists' },
  { folder: 'actions', title: 'Action', of: 'actions' },
] as const

/**
 * The reference of `provider` in the layout and with the headings that registries expect (those of terraform-plugin-docs): a page
 * for itself and one for each resource, data source, list, action and function. Pure.
 */
export function referencePages(provider: Provider, examples: Examples): readonly Page[] {
  const { name: own, schema } = provider
  const typePages = KINDS.flatMap(({ folder, title, of }) =>
    [...provider[of]].map(([type, { handlers }]) => {
      const path = `${folder}/${type.slice(own.length + 1)}`
      return {
        path: `${path}.md`,
        text: page({
          title: `${type} ${title} - ${own}`,
          heading: `${type} (${title})`,
          schema: handlers.schema,
          example: exampleFor(path, examples),
          imported: importSection(path, type),
        }),
      }
    }),
  )
  const index = {
    title: `${own} Provider`,
    heading: `${own} Provider`,
    ...{ schema, example: exampleFor('index', examples) },
  }
  const functionPages = [...provider.functions].map(([name, definition]) => ({
    path: `functions/${name}.md`,
    text: functionPage(own, name, definition),
  }))
  return [{ path: 'index.md', text: page(index) }, ...typePages, ...functionPages]
}

interface PageParts {
  readonly title: string
  readonly heading: string
  readonly schema: Schema
  readonly example: string | undefined
  readonly imported?: string
}

function page({ title, heading, schema, example, imported = '' }: PageParts): string {
  const { description = '', attributes } = schema
  const shown =
    example === undefined ? '' : `\n## Example Usage\n\n${block('terraform', example.trimEnd())}\n`
  return `${frontMatter(title, description)}
# ${heading}

${description}
${shown}
## Schema

${schemaSections(attributes)}
${imported}`
}

function importSection(path: string, type: string): string {
  const known = IMPORT_OF[path]
  if (known === undefined) return ''
  const { ids, example } = known
  return `
## Import

${ids}:

${block('terraform', `import {\n  to = ${type}.example\n  id = "${example}"\n}`)}
`
}

function functionPage(provider: string, name: string, definition: AnyFunction): string {
  const { summary, description, parameters, returns } = definition
  const inputs = parameters.map((parameter) => `${parameter.name} ${typeName(parameter.type)}`).join(', ')
  const call = `provider::${provider}::${name}(${parameters.map((parameter) => parameter.name).join(', ')})`
  const list = parameters.map(
    (parameter, index) =>
      `${index + 1}. \`${parameter.name}\` (${titled(typeName(parameter.type))}) ${parameter.description}`,
  )
  return `${frontMatter(`${name} function - ${provider}`, summary)}
# function: ${name}

${description}

## Example Usage

${block('terraform', call)}

## Signature

${block('text', `${name}(${inputs}) ${typeName(returns)}`)}

## Arguments

${list.join('\n')}
`
}

/** Front matter, from which registries read title and description. */
function frontMatter(pageTitle: string, description: string): string {
  return `---
page_title: "${pageTitle}"
subcategory: ""
description: |-
  ${description.replaceAll(/\s+/g, ' ')}
---

${GENERATED}
`
}

const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

function exampleFor(key: string, examples: Examples): string | undefined {
  const name = EXAMPLE_OF[key]
  if (name === undefined) return undefined
  const text = examples(name)
  if (text === undefined) throw new Error(`there is no example ${name}, which the page ${key} shows`)
  return text
}
