import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compileSet } from './manifest/compile/serviceSet.ts'
import { formatProblem, PROBLEM_MEANINGS, sortedProblems } from './manifest/manifestProblem.ts'
import { readYaml } from './manifest/read/readYaml.ts'
import { EXIT } from './run/exitCode.ts'
import { FAILURE_CODES } from './run/failure.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8')
const [ofManifests = '', ofCommands = ''] = page.split('\n## Codes for commands\n')
/** Entries of a part of the page: the heading, and what stands below it. */
const entriesOf = (part: string): readonly (readonly [string, string])[] =>
  part
    .split('\n### ')
    .slice(1)
    .map((entry) => [entry.slice(0, entry.indexOf('\n')), entry.slice(entry.indexOf('\n'))])

test('the reference has an entry for every error code, and no other', () => {
  expect(
    entriesOf(ofManifests)
      .map(([code]) => code)
      .sort(),
  ).toEqual(Object.keys(PROBLEM_MEANINGS).sort())
  const commands = entriesOf(ofCommands).map(([code]) => code.replace(' of a command', ''))
  expect(commands.sort()).toEqual([...FAILURE_CODES].sort())
})

test('the reference lists every exit code with its meaning', () => {
  const listed = [...ofManifests.matchAll(/^\| ([\d, ]+) \| \S.* \|$/gm)]

  expect(listed.flatMap(([, codes = '']) => codes.split(', ').map(Number))).toEqual(Object.values(EXIT))
})

test.each(entriesOf(ofManifests))('the example of %s matches the reference', (code, entry) => {
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(entry)?.[1] ?? ''
  const read = readYaml({ file: 'manifest.yaml', directory: '', text: block('yaml') })
  const set = compileSet(read.documents, {
    env: {},
    secretsDirectory: '/run/secrets',
    rootDirectory: import.meta.dirname,
    allowInlineSecrets: false,
    secrets: 'required',
  })
  const told = sortedProblems([...read.problems, ...set.problems, ...set.warnings]).map(formatProblem)

  expect(told).toEqual(block('text').trimEnd().split('\n'))
  expect(told.every((line) => line.includes(`[${code}]`))).toBe(true)
  // Of what is missing the message itself says what it has to be.
  expect(code === 'E_REQUIRED' || told.every((line) => line.endsWith(')'))).toBe(true)
})
