import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The requirements for a provider of this API, in 74 scenarios. A test that shows one has its number in its name. */
const SCENARIOS = 74

/** Scenarios that need resources that the tests do not have. */
const NOT_HERE: Readonly<Record<number, string>> = {
  69: 'OpenTofu and other versions of Terraform; the protocol tests play a client without write-only attributes',
}

function claimedIn(folder: string): readonly number[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/Scenarios? ([\d, and]+):/g)])
    .flatMap(([, numbers = '']) => (numbers.match(/\d+/g) ?? []).map(Number))
}

test('every scenario is named by a test, or has a written reason why it has none', () => {
  const claimed = new Set(['provider', 'api/client', 'examples/terraform'].flatMap(claimedIn))
  const all = Array.from({ length: SCENARIOS }, (_, index) => index + 1)

  expect(all.filter((number) => !claimed.has(number) && NOT_HERE[number] === undefined)).toEqual([])
  expect([...claimed].filter((number) => NOT_HERE[number] !== undefined || !all.includes(number))).toEqual([])
})
