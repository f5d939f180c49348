import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the example in the README is the one that is type-checked', () => {
  const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8')
  const example = readFileSync(new URL('./testing/example.ts', import.meta.url), 'utf8')

  const [, shown] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []

  expect(shown).toBe(example)
})
