import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { binaryProblem, databasePairProblem } from './databasePair.ts'

test.each([
  ['20.20.2', '12.11.1'],
  ['22.23.3', '12.11.1'],
  ['22.23.3', '13.2.0'],
  ['24.21.0', '13.2.0'],
  ['26.10.0', '13.2.0'],
])('Node %s opens databases with better-sqlite3 %s', (node, sqlite) => {
  expect(databasePairProblem(node, sqlite)).toBeUndefined()
})

test.each([
  ['20.20.2', '13.2.0', 'npm install --no-save better-sqlite3@12'],
  ['24.21.0', '12.11.1', 'npm install --no-save better-sqlite3@13'],
  ['26.10.0', '12.11.1', 'npm install --no-save better-sqlite3@13'],
])('Node %s with better-sqlite3 %s is refused with the command to run', (node, sqlite, command) => {
  expect(databasePairProblem(node, sqlite)).toContain(command)
})

test.each([
  ['20.20.2', 'npm install better-sqlite3@12'],
  ['26.10.0', 'npm install better-sqlite3@13'],
])('Node %s without better-sqlite3 is refused with the command to run', (node, command) => {
  expect(databasePairProblem(node, undefined)).toContain(command)
})

test('a better-sqlite3 whose install script npm did not run is refused with the command and its folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-sqlite-'))
  try {
    expect(binaryProblem(folder)).toContain(`run "npm run install" in ${folder}`)

    mkdirSync(join(folder, 'build/Release'), { recursive: true })
    writeFileSync(join(folder, 'build/Release/better_sqlite3.node'), '')

    expect(binaryProblem(folder)).toBeUndefined()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
