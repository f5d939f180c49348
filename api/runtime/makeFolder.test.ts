import { readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { suiteFolder } from '../testing/temporaryFolder.ts'
import { makeFolder, OWNER_ONLY } from './makeFolder.ts'

const root = suiteFolder()

test('missing folders are created with the requested mode, and the outermost is returned', () => {
  const folder = join(root, 'a', 'b', 'c')

  expect(makeFolder(folder, OWNER_ONLY)).toBe(join(root, 'a'))
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(OWNER_ONLY)
  expect(statSync(folder).mode & 0o777).toBe(OWNER_ONLY)
  expect(makeFolder(folder)).toBeUndefined()
})

test('a path that enters a missing folder and leaves it with .. creates only its target', () => {
  expect(makeFolder(`${root}/missing/../made/below`)).toBe(join(root, 'made'))
  expect(readdirSync(join(root, 'made'))).toEqual(['below'])
})

test('a folder that cannot be created fails at once, below /proc too', () => {
  const file = join(root, 'file')
  const dangling = join(root, 'dangling')
  writeFileSync(file, '')
  symlinkSync(join(root, 'nowhere'), dangling)

  expect(() => makeFolder('/proc/x/y')).toThrow('ENOENT')
  expect(() => makeFolder(file)).toThrow('EEXIST')
  expect(() => makeFolder(join(file, 'below'))).toThrow('ENOTDIR')
  expect(() => makeFolder(dangling)).toThrow('ENOENT')
})
