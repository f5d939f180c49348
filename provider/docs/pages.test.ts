import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { pharosProvider } from '../pharosProvider.ts'
import { type Attributes, isNested } from '../protocol/authoring/schema.ts'
import { currentPages } from './currentPages.ts'

const folder = 'docs/provider'

test('Scenario 67: the pages agree with the schema and the examples: "npm run bindings" after a change', () => {
  const written = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(folder, file), text: readFileSync(file, 'utf8') }))
  const byPath = (pages: readonly { path: string }[]) => [...pages].sort((a, b) => (a.path < b.path ? -1 : 1))

  expect(byPath(written)).toEqual(byPath(currentPages()))
})

function undescribed(attributes: Attributes, prefix: string): readonly string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => [
    ...(attribute.description === undefined ? [`${prefix}${name}`] : []),
    ...(isNested(attribute) ? undescribed(attribute.attributes, `${prefix}${name}.`) : []),
  ])
}

test('Scenario 67: every attribute and every type has a description', () => {
  const provider = pharosProvider('0.0.0', {})
  const schemas = [
    ['provider', provider.schema] as const,
    ...[...provider.resources].map(([name, { handlers }]) => [name, handlers.schema] as const),
    ...[...provider.dataSources].map(([name, { handlers }]) => [`data.${name}`, handlers.schema] as const),
    ...[...provider.lists].map(([name, { handlers }]) => [`list.${name}`, handlers.schema] as const),
  ]

  expect(schemas.filter(([, schema]) => schema.description === undefined)).toEqual([])
  expect(schemas.flatMap(([name, schema]) => undescribed(schema.attributes, `${name}.`))).toEqual([])
})
