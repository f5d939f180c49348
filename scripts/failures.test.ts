import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REASONS } from '../monitoring/protocol/outcomes.ts'
import { sourceFiles } from './testing/importGraph.ts'

const PAGE = 'docs/failures.md'

test(`every test that ${PAGE} names exists`, () => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:---|failure|event) /.test(line))
  const named = rows.map((row) => [
    ...(row.split(' | ').at(-1) ?? '').matchAll(/\[[^\]]+\]\(\.\.\/([^)]+)\): ([^;|]+?)(?=;| \|)/g),
  ])
  const absent = named.flat().filter(([, file = '', title = '']) => {
    return !readFileSync(join('.', file), 'utf8').includes(title)
  })

  expect(named.every((tests) => tests.length > 0)).toBe(true)
  expect(absent.map(([text]) => text)).toEqual([])
})

test('every reason of a result is named in a test', () => {
  const tests = sourceFiles()
    .filter((file) => file.startsWith('monitoring/') && file.endsWith('.test.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

  expect(Object.keys(REASONS).filter((reason) => !tests.includes(`'${reason}'`))).toEqual([])
})

test('docs/checks.md explains every reason of a result', () => {
  const page = readFileSync('docs/checks.md', 'utf8')

  expect(Object.keys(REASONS).filter((reason) => !page.includes(`\`${reason}\``))).toEqual([])
})
