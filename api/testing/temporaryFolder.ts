import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** A new folder, removed at the end of the running test. */
export function testFolder(): string {
  const folder = newFolder()
  onTestFinished(() => remove(folder))
  return folder
}

/** A new folder, removed after all tests of the file, or of the `describe` that calls this. */
export function suiteFolder(): string {
  const folder = newFolder()
  afterAll(() => remove(folder))
  return folder
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'pharos-test-'))
}

/** A test may have removed it already. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
