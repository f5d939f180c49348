import { describe, expect, onTestFinished, test } from 'vitest'
import { errorAt } from './authoring/diagnostics.ts'
import { resourceFor } from './authoring/provider.ts'
import { defineSchema } from './authoring/schema.ts'
import { defineProvider } from './defineProvider.ts'
import { serveForReattach } from './reattach.ts'
import { findTerraform, openTerraformDirectory } from './testing/terraformCli.ts'
import { formatPath, type Path } from './values/path.ts'

const steps = {
  nesting: 'list',
  optional: true,
  attributes: {
    name: { type: 'string', optional: true },
    tools: {
      nesting: 'single',
      optional: true,
      attributes: { name: { type: 'string', optional: true } },
    },
  },
} as const

const schema = defineSchema({
  attributes: {
    name: { type: 'string', optional: true },
    steps,
    made: steps,
    absent: steps,
    limits: {
      nesting: 'single',
      optional: true,
      attributes: { longest: { type: 'string', optional: true } },
    },
    labels: { type: { map: 'string' }, optional: true },
    parts: {
      nesting: 'map',
      optional: true,
      attributes: { name: { type: 'string', optional: true } },
    },
  },
})

const RESOURCE = `resource "sample_recipe" "a" {
  name = "good"
  steps = [
    { name = "first" },
    {
      tools = { name = "spoon" }
    },
  ]
  made = [for name in ["a", "b"] :
  { name = name }]
  limits = {
    longest = "1m"
  }
  labels = {
    a = "1"
    b = "2"
  }
  parts = {
    a = { name = "one" }
    b = { name = "two" }
  }
}`

/** The path of an error, and the first line that Terraform must quote for it. */
const PLACES: readonly (readonly [Path, string])[] = [
  [['name'], '  name = "good"'],
  [['steps'], '  steps = ['],
  [['steps', 0], '    { name = "first" },'],
  [['steps', 0, 'name'], '    { name = "first" },'],
  [['steps', 1, 'tools', 'name'], '    {'],
  [['made', 1, 'name'], '  made = [for name in ["a", "b"] :'],
  [['limits', 'longest'], '    longest = "1m"'],
  [['labels', { key: 'b' }], '    b = "2"'],
  [['parts', { key: 'b' }, 'name'], '    b = { name = "two" }'],
  // An absent attribute has no line, so Terraform quotes the block that it would be in.
  [['absent', 0, 'name'], 'resource "sample_recipe" "a" {'],
]

const recipe = resourceFor<object>()({
  schema,
  validate: ({ report }) => {
    for (const [path] of PLACES) report(errorAt(path, formatPath(path), 'It is wrong.'))
    report(errorAt(['limits', 'longest'], 'Too long', 'It is too long.'))
  },
  read: () => null,
  create: () => ({ state: {} }),
  update: () => ({ state: {} }),
  delete: () => undefined,
})

describe.skipIf(findTerraform() === undefined)('terraform', () => {
  test('quotes the line of an error in a nested attribute, and names its full path', async () => {
    const provider = defineProvider({
      name: 'sample',
      version: '1.0.0',
      schema: defineSchema({ attributes: {} }),
      configure: () => ({}),
      resources: { sample_recipe: recipe },
    })
    const served = await serveForReattach(provider, ['registry.terraform.io/pharos/sample'])
    const terraform = openTerraformDirectory({
      environment: { TF_REATTACH_PROVIDERS: served.environmentValue },
    })
    onTestFinished(() => {
      served.close()
      terraform.remove()
    })
    terraform.configure(
      `terraform {\n required_providers { sample = { source = "pharos/sample" } }\n}\n${RESOURCE}\n`,
    )

    const { stdout } = await terraform.run('validate', '-json')

    const said: readonly { summary: string; detail: string; snippet: { code: string } }[] =
      JSON.parse(stdout).diagnostics
    expect(
      said.slice(0, PLACES.length).map(({ summary, snippet }) => [summary, snippet.code.split('\n')[0]]),
    ).toEqual(PLACES.map(([path, line]) => [formatPath(path), line]))
    expect(said.at(-1)?.detail).toBe('It is too long.\n\nAttribute: limits.longest')
  })
})
