import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, sourceFiles } from './testing/importGraph.ts'

/** Maximum number of files in one folder; more need subfolders. A test beside its file is not counted. */
const FILES_MAX = 20

/** Existing larger folders. The list only shrinks: remove the ones that you divide. */
const LARGE_LEFT: readonly string[] = []

/** Existing files outside `testing/` that only tests import. */
const TESTING_LEFT: readonly string[] = ['provider/protocol/reattach.ts']

const files = sourceFiles()

function isTest(file: string): boolean {
  return file.endsWith('.test.ts') || file.split('/').includes('testing')
}

test(`no folder has more than ${FILES_MAX} files, except for tests and the RPCs of the Terraform protocol`, () => {
  const counts = new Map<string, number>()
  for (const folder of files.filter((file) => !file.endsWith('.test.ts')).map(dirname)) {
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const large = [...counts].filter(
    ([folder, count]) => count > FILES_MAX && !/^testing$|^rpc$/.test(basename(folder)),
  )

  expect(large.map(([folder]) => folder).sort()).toEqual(LARGE_LEFT)
})

test('files that only tests import are below testing/', () => {
  const importers = new Map<string, string[]>()
  for (const [file, imported] of importsOf(files)) {
    for (const path of imported) importers.set(path, [...(importers.get(path) ?? []), file])
  }
  // The build adds an import of it to the provider's executable.
  const commands = ['package.json', 'scripts/build.mjs'].map((file) => readFileSync(file, 'utf8')).join('\n')
  const outside = [...importers].filter(
    ([file, by]) => !isTest(file) && by.every(isTest) && !commands.includes(file),
  )

  expect(outside.map(([file]) => file).sort()).toEqual(TESTING_LEFT)
})
