import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SERVER = fileURLToPath(new URL('../..', import.meta.url))

/** Statements about parts that this server does not have; the rest of 1 to 173 must be tested. */
const ABSENT: Readonly<Record<string, string>> = {
  C036: 'one limit for several processes',
  C050: 'first results of a new service',
  C118: 'results of a deleted service',
  C126: 'incidents that are opened for a service',
  C152: 'webhooks',
}
const NUMBERED = Array.from({ length: 173 }, (_, index) => `C${String(index + 1).padStart(3, '0')}`)

/** The texts that make up test names: first arguments, and strings in rows of test.each. */
function namesIn(source: string): string {
  const withoutComments = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')
  return [...withoutComments.matchAll(/(['"`])(?:\\.|(?!\1).)*\1/g)].map(([text]) => text).join('\n')
}

test('every numbered statement of the contract is named by a test', async () => {
  const files = (await readdir(SERVER, { recursive: true })).filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith('checklist.test.ts'),
  )

  const names = await Promise.all(
    files.map(async (file) => namesIn(await readFile(`${SERVER}/${file}`, 'utf8'))),
  )

  const tested = new Set(names.join('\n').match(/\bC\d{3}\b/g))
  expect(NUMBERED.filter((id) => !tested.has(id))).toEqual(Object.keys(ABSENT))
})
