import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import { cases } from '../../scripts/testing/torture.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { readIgnoreRules } from './ignoreFile.ts'
import { readManifests } from './manifestFiles.ts'

const PATHS = ['a.yaml', 'b/a.yaml', 'b/c/a.yaml', 'b/c/d.yml', 'ab/x.yaml', 'c/b/x.yaml']

test('the patterns ignore the same files as git', () => {
  const folder = testFolder()
  execFileSync('git', ['init', '-q', folder])
  for (const path of PATHS) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
  const step = fc.constantFrom('a', 'b', 'c', '*', 'a*', '?', '**', '[ab]', '*.yaml', 'a.yaml', 'x.*')
  const pattern = fc
    .tuple(
      fc.constantFrom('', '!'),
      fc.constantFrom('', '/'),
      fc.array(step, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '/'),
    )
    // Two stars beside each other are one to git, and "**" alone or last with a slash has a rule of its own there.
    .filter(
      ([, , steps]) =>
        !steps.some((one, at) => one === '**' && steps[at + 1] === '**') && steps.at(-1) !== '**',
    )
    .map(([not, first, steps, last]) => `${not}${first}${steps.join('/')}${last}`)
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), (patterns) => {
      writeFileSync(join(folder, '.gitignore'), `${patterns.join('\n')}\n`)
      const listed = execFileSync('git', ['-C', folder, 'ls-files', '--others', '--exclude-standard'], {
        encoding: 'utf8',
      })
      const { ignores } = readIgnoreRules(Buffer.from(patterns.join('\n')), '.pharosignore')
      const kept = PATHS.filter((path) => !ignores(path, false))

      expect({ patterns, kept }).toEqual({
        patterns,
        kept: listed
          .split('\n')
          .filter((path) => PATHS.includes(path))
          .sort((a, b) => PATHS.indexOf(a) - PATHS.indexOf(b)),
      })
    }),
    { numRuns: cases(40, 150) },
  )
})

test('a .pharosignore keeps other YAML out of a set, and a pattern with too many asterisks is a problem at its place', () => {
  const folder = testFolder()
  mkdirSync(join(folder, 'charts/templates'), { recursive: true })
  writeFileSync(join(folder, 'a.yaml'), manifestOf('a'))
  writeFileSync(join(folder, 'charts/values.yaml'), 'replicas: 3\n')
  writeFileSync(join(folder, 'charts/templates/b.yaml'), '{{ .Values }}: [\n')
  writeFileSync(join(folder, '.pharosignore'), '# Helm\r\n\r\n/charts/\r\n')

  expect(readManifests(folder)).toMatchObject({ files: 1, problems: [] })

  writeFileSync(join(folder, '.pharosignore'), 'charts\n# a*b*c*d\nfirst-*-of-*-and-*.yaml\n')
  expect(readManifests(folder)).toMatchObject({
    documents: [],
    problems: [{ code: 'E_VALUE', file: join(folder, '.pharosignore'), line: 3, column: 7 }],
  })
})

test('a pattern with more asterisks than can be matched in time is refused', () => {
  for (const pattern of ['*a*a*b', '**/a/**/a/**/b', '*a'.repeat(5_000), '**/a/'.repeat(2_000)]) {
    const { ignores, problems } = readIgnoreRules(Buffer.from(pattern), '.pharosignore')
    expect({ pattern, codes: problems.map(({ code }) => code) }).toEqual({ pattern, codes: ['E_VALUE'] })
    expect(ignores('a'.repeat(5_000), false)).toBe(false)
  }
})

test('the costliest accepted pattern is matched with the longest path', () => {
  const { ignores, problems } = readIgnoreRules(Buffer.from('**/*a*b/**/c'), '.pharosignore')

  expect(problems).toEqual([])
  expect(ignores('a'.repeat(4_096), false)).toBe(false)
  expect(ignores('a/'.repeat(2_048), false)).toBe(false)
  expect(ignores('c/xaab/x/c', false)).toBe(true)
})
