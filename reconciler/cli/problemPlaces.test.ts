import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { runHere } from '../testing/programHere.ts'

const folder = suiteFolder()

const HEAD = 'apiVersion: pharos/v1\nkind: Service\n'
const ENDPOINTS = 'endpoints: [{url: "https://shop.example.com/"}]'

interface Reported {
  readonly code: string
  readonly line: number
  readonly column: number
  readonly range: {
    readonly start: { readonly line: number; readonly column: number }
    readonly end: { readonly line: number; readonly column: number }
  }
  readonly pointer?: string
  readonly origin?: object
}

/** The problems of `text` as data, each with what of the text its range is. */
async function reportedOf(text: string, more: readonly string[] = []) {
  const file = join(folder, 'manifest.yaml')
  writeFileSync(file, text)
  const { stdout } = await runHere(['validate', folder, '--json', ...more], {})
  const { problems, warnings } = JSON.parse(stdout)
  return [...problems, ...warnings].map((problem: Reported) => ({
    ...problem,
    shown: cut(text, problem.range),
  }))
}

function cut(text: string, { start, end }: Reported['range']): string {
  const lines = text.split(/\r\n|\n|\r/).slice(start.line - 1, end.line)
  const last = (lines.at(-1) ?? '').slice(0, end.column - 1)
  return [...lines.slice(0, -1), last].join('\n').slice(start.column - 1)
}

test('a problem as data has its range, a pointer and its document', async () => {
  const text = `${HEAD}metadata: {name: shop}\nspec:\n  interval: 30 # seconds\n  regions: [eu-west-1]\n  timeuot: 5s\n  ${ENDPOINTS}\n`
  const origin = { kind: 'Service', name: 'shop', document: 0 }

  const [value, field] = await reportedOf(text)
  expect(value).toMatchObject({ code: 'E_VALUE', pointer: '/spec/interval', origin, shown: '30' })
  expect(value).toMatchObject({ line: 5, column: 13, range: { start: { line: 5, column: 13 } } })
  expect(field).toMatchObject({ code: 'E_UNKNOWN_FIELD', pointer: '/spec/timeuot', origin, shown: 'timeuot' })
})

test('an error in Defaults is reported with the document and the place of the Defaults', async () => {
  const text = `${HEAD}metadata: {name: shop}\nspec: {regions: [eu-west-1], ${ENDPOINTS}}\n---\napiVersion: pharos/v1\nkind: Defaults\nspec:\n  interval: soon\n`

  const [reported] = await reportedOf(text)
  expect(reported).toMatchObject({ code: 'E_VALUE', pointer: '/spec/interval', shown: 'soon' })
  expect(reported?.origin).toEqual({ kind: 'Defaults', name: null, document: 1 })
})

test.each([
  ['quotes', `interval: "soon" # no`, 'soon'],
  ['a text of several lines', 'interval: |\n    soon\n    now\n  # no', 'soon\n    now'],
  ['a list', 'interval: [1, "b"] # no', '[1, "b'],
  ['a list of several lines', 'interval:\n    - 1\n    - b\n  # no', '- 1\n    - b'],
  ['windows line ends', 'interval: soon\r\n  name: shop', 'soon'],
  ['what is missing, at the key of what should have it', 'name: shop', 'spec'],
])('a range ends where the value does: %s', async (_what, field, shown) => {
  const [reported] = await reportedOf(
    `${HEAD}metadata: {name: shop}\nspec:\n  ${field}\n  regions: [eu-west-1]\n  ${ENDPOINTS}\n`,
  )
  expect(reported?.shown).toBe(shown)
})

test('a file that is not YAML is reported with a place without a range, and a repeated field with the range of the field', async () => {
  const [syntax] = await reportedOf('a: b: c\n')
  expect(syntax).toMatchObject({ code: 'E_YAML', shown: '' })
  expect(syntax).not.toHaveProperty('pointer')

  const reported = await reportedOf(`${HEAD}metadata: {name: shop, name: shop}\n`)
  expect(reported.find(({ code }) => code === 'E_DUP_FIELD')).toMatchObject({ shown: 'name' })
})

test('a pointer stops before a key that is not an identifier, which may be a misplaced secret', async () => {
  const text = `${HEAD}metadata: {name: shop}\nspec:\n  interval: 30s\n  "hunter 2!": x\n  regions: [eu-west-1]\n  ${ENDPOINTS}\n`
  const reported = await reportedOf(text)
  expect(reported).toMatchObject([{ code: 'E_UNKNOWN_FIELD', pointer: '/spec' }])
  expect(JSON.stringify(reported.map(({ shown: _, ...rest }) => rest))).not.toContain('hunter')
})
