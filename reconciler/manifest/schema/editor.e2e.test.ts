import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { startLanguageServer } from '../../testing/languageServer.ts'
import { manifestOf } from '../../testing/manifestOf.ts'
import { descriptionOf } from './jsonSchema.ts'

const SCHEMA = pathToFileURL(join(import.meta.dirname, '../../../docs/manifest.schema.json')).href
const URI = 'file:///manifests/'

const editor = await startLanguageServer({
  validate: true,
  completion: true,
  hover: true,
  // Nothing is to be fetched: the schema is the one of this repository.
  schemaStore: { enable: false },
  schemas: { [SCHEMA]: '*.yaml' },
})
afterAll(() => editor.close())

function at(text: string, marker: string): { line: number; character: number } {
  const before = text.slice(0, text.indexOf(marker)).split('\n')
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
}

test('an editor reports no error in a valid manifest, even with variables', async () => {
  const text = manifestOf('shop', `  paused: \${var.hold}\n`)
  expect(await editor.open(`${URI}sound.yaml`, text)).toEqual([])
})

test('an editor underlines a misspelt field and an invalid value', async () => {
  const text = manifestOf('shop', '      timeout: 10\n      colour: red\n').replace('interval', 'intervall')

  const found = await editor.open(`${URI}broken.yaml`, text)

  const lines = found.map(
    ({ range, message }) => `${range.start.line + 1}:${range.start.character + 1} ${message}`,
  )
  expect(lines).toEqual(
    expect.arrayContaining([
      '5:3 Property intervall is not allowed.',
      expect.stringMatching(/^9:16 /),
      '10:7 Property colour is not allowed.',
    ]),
  )
  expect(lines).toHaveLength(3)
})

test('an editor completes the fields of an endpoint with their descriptions', async () => {
  const text = `${manifestOf('shop')}      `
  const uri = `${URI}open.yaml`
  await editor.open(uri, text)

  const response = await editor.request('textDocument/completion', {
    textDocument: { uri },
    position: { line: text.split('\n').length - 1, character: 6 },
  })

  // True because the protocol says so.
  const { items } = response as { items: readonly { label: string; documentation?: unknown }[] }
  const documented = new Map(items.map(({ label, documentation }) => [label, JSON.stringify(documentation)]))
  for (const field of ['timeout', 'headers', 'assertions', 'maxRedirects', 'withDns', 'method', 'body']) {
    const about = descriptionOf({ kind: 'Service', path: ['spec', 'endpoints', field] })?.description
    expect([field, documented.get(field)]).toEqual([field, expect.stringContaining(about ?? 'nothing')])
  }
  expect(documented.has('regions')).toBe(false)
})

test('an editor shows the description of a field on hover', async () => {
  const text = manifestOf('shop')
  const uri = `${URI}hover.yaml`
  await editor.open(uri, text)

  const hover = await editor.request('textDocument/hover', {
    textDocument: { uri },
    position: at(text, 'interval'),
  })

  expect(JSON.stringify(hover)).toContain('Time between two checks, in whole seconds.')
})
