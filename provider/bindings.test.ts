import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { generateBindings, generateSchema } from '../scripts/generateBindings.ts'
import { PROVIDER_ADDRESS, REGISTRY_HOSTS } from './distribution/mirror.ts'
import { schemaDocument } from './docs/schemaDocument.ts'
import { pharosProvider } from './pharosProvider.ts'
import { type Attributes, isNested } from './protocol/authoring/schema.ts'
import { cannotRunTerraform, terraformWorkspace } from './testing/terraformWorkspace.ts'

const provider = pharosProvider(packageJson.version, {})

test('the schema file is the schema of the provider: "npm run bindings" after every change', () => {
  const { path, text } = generateSchema()

  // As documents: the formatter writes short arrays on one line.
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(text))
})

test('Scenario 68: the CDKTF bindings are what the generator produces from the schema', async () => {
  const generated = await generateBindings()

  const files = readdirSync('provider/cdktf/.gen', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  expect([...files].sort()).toEqual(generated.map(({ path }) => path).sort())
  for (const { path, text } of generated) expect(readFileSync(path, 'utf8')).toBe(text)
})

/** Names of all attributes, nested ones too. */
function namesIn(attributes: Attributes): readonly string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) => [
    name,
    ...(isNested(attribute) ? namesIn(attribute.attributes) : []),
  ])
}

const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())

/** Names of the attributes that a configuration may set, nested ones too. */
function configurableIn(attributes: Attributes): readonly string[] {
  return Object.entries(attributes).flatMap(([name, attribute]) =>
    attribute.optional === true || attribute.required === true
      ? [name, ...(isNested(attribute) ? configurableIn(attribute.attributes) : [])]
      : [],
  )
}

test('Scenario 68: the generator only turns attribute names into camel case, and Terraform gets the original names', async () => {
  const texts = (await generateBindings()).map(({ text }) => text).join('\n')
  const schemas = [
    provider.schema,
    ...[...provider.resources.values(), ...provider.dataSources.values()].map(
      ({ handlers }) => handlers.schema,
    ),
  ]

  const renamed = schemas
    .flatMap(({ attributes }) => namesIn(attributes))
    .filter((name) => !new RegExp(`(?:readonly|get) ${camelCase(name)}\\b`).test(texts))
  const sentOtherwise = schemas
    .flatMap(({ attributes }) => configurableIn(attributes))
    .filter((name) => !new RegExp(`^ +${name}: \\w.*\\b_?${camelCase(name)}\\b`, 'm').test(texts))

  expect(renamed).toEqual([])
  expect(sentOtherwise).toEqual([])
})

test('the code shipped for cdktf and for cdktn is the same, except for the library that it imports', async () => {
  const generated = (await generateBindings()).map(({ path }) =>
    path.replace('provider/cdktf', '').replace(/\.ts$/, '.js'),
  )
  const filesOf = (library: string) =>
    readdirSync(join('dist', library), { recursive: true, encoding: 'utf8' }).sort()

  expect(filesOf('cdktn')).toEqual(filesOf('cdktf'))
  for (const file of generated) {
    const [original, continuation] = ['cdktf', 'cdktn'].map((library) =>
      readFileSync(join('dist', library, file), 'utf8'),
    )
    expect(continuation).toBe(original?.replaceAll('require("cdktf")', 'require("cdktn")'))
    expect(continuation).toContain('require("cdktn")')
  }
})

test('compilers that ignore "exports", as in new CDKTF projects, find the same types', () => {
  const { exports, typesVersions } = packageJson

  expect(typesVersions['*']).toEqual({
    cdktf: [exports['./cdktf'].types],
    cdktn: [exports['./cdktn'].types],
  })
})

describe.skipIf(cannotRunTerraform)('terraform', () => {
  test('prints the same schema as the file', async () => {
    const workspace = await terraformWorkspace({
      url: 'http://127.0.0.1:9',
      apiKey: '',
      provider: 'installed',
    })
    try {
      workspace.configure('')
      await workspace.succeed(['init'])

      const printed = JSON.parse(await workspace.succeed(['providers', 'schema', '-json']))

      const [address = ''] = Object.keys(printed.provider_schemas)
      expect(REGISTRY_HOSTS.map((host) => `${host}/${PROVIDER_ADDRESS}`)).toContain(address)
      const { lists, actions, ...others } = provider
      expect(Math.min(lists.size, actions.size)).toBeGreaterThan(0)
      // Terraform before 1.14 knows neither lists nor actions, and prints none.
      const unknown = { lists: new Map(), actions: new Map() }
      expect(printed).toEqual(schemaDocument({ ...others, ...unknown }, address))
    } finally {
      workspace.remove()
    }
  })
})
