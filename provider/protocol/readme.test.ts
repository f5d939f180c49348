import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('./', import.meta.url)
const readme = readFileSync(new URL('README.md', folder), 'utf8')

test('the example in the README is the one that is type-checked', () => {
  const example = readFileSync(new URL('./testing/example.ts', import.meta.url), 'utf8')

  const [, shown] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []

  expect(shown).toBe(example)
})

test('the README names only functions and types that exist', () => {
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n')
  const names = new Set(sources.match(/\w+/g))

  const mentioned = [...readme.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => code.match(/\w+/g) ?? [])
  const ofOthers = ['compilerOptions', 'tsconfig']

  expect(
    mentioned.filter((name) => /[a-z][A-Z]/.test(name) && !ofOthers.includes(name) && !names.has(name)),
  ).toEqual([])
})
