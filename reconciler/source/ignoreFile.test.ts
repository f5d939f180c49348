import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manifestOf } from '../testing/manifestOf.ts'
import { readIgnoreRules } from './ignoreFile.ts'
import { readManifests } from './manifestFiles.ts'

const PATHS = ['a.yaml', 'b/a.yaml', 'b/c/a.yaml', 'b/c/d.yml', 'ab/x.yaml', 'c/b/x.yaml']

test('the patterns leave out what git would leave out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ignore-'))
  execFileSync('git', ['init', '-q', folder])
  for (const path of PATHS) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
  const step = fc.constantFrom('a', 'b', 'c', '*', 'a*', '?', '**', '*.yaml', 'a.yaml', 'x.*')
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
      const { ignores } = readIgnoreRules(patterns.join('\n'), '.pharosignore')
      const kept = PATHS.filter((path) => {
        const folders = path
          .split('/')
          .slice(0, -1)
          .map((_, at, all) => all.slice(0, at + 1).join('/'))
        return !folders.some((one) => ignores(one, true)) && !ignores(path, false)
      })

      expect({ patterns, kept }).toEqual({
        patterns,
        kept: listed
          .split('\n')
          .filter((path) => PATHS.includes(path))
          .sort((a, b) => PATHS.indexOf(a) - PATHS.indexOf(b)),
      })
    }),
    { numRuns: 150 },
  )
  rmSync(folder, { recursive: true })
})

test('a .pharosignore keeps other YAML out of a set, and a pattern it does not know is a problem at its place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ignore-'))
  mkdirSync(join(folder, 'charts/templates'), { recursive: true })
  writeFileSync(join(folder, 'a.yaml'), manifestOf('a'))
  writeFileSync(join(folder, 'charts/values.yaml'), 'replicas: 3\n')
  writeFileSync(join(folder, 'charts/templates/b.yaml'), '{{ .Values }}: [\n')
  writeFileSync(join(folder, '.pharosignore'), '# Helm\r\n\r\n/charts/\r\n')

  expect(readManifests(folder)).toMatchObject({ files: 1, problems: [] })

  writeFileSync(join(folder, '.pharosignore'), 'charts\n  [ab].yaml\n')
  expect(readManifests(folder).problems).toMatchObject([
    { code: 'E_VALUE', file: join(folder, '.pharosignore'), line: 2, column: 3 },
  ])
  rmSync(folder, { recursive: true })
})

test('a pattern full of stars takes no longer than its length and that of the name', () => {
  const { ignores } = readIgnoreRules(`${'*a'.repeat(5_000)}b\n${'**/a/'.repeat(2_000)}b`, '.pharosignore')
  expect(ignores('a'.repeat(5_000), false)).toBe(false)
  expect(ignores(`${'a/'.repeat(2_000)}c`, false)).toBe(false)
})
