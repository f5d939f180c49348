import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The result of a program. */
export interface ProgramResult {
  readonly exitCode: number
  /** stdout followed by stderr. */
  readonly output: string
}

/** A folder outside this repository with our package installed as from the registry. */
export interface OutsideProject {
  readonly folder: string
  /** Runs a script of an installed package in the folder, such as `typescript/bin/tsc`. */
  readonly node: (script: string, ...args: readonly string[]) => Promise<ProgramResult>
  readonly remove: () => void
}

/**
 * Unpacks the package that npm would publish from this checkout into a new project. The further packages `installed`,
 * and our dependencies, are links into this checkout, so that no network is needed.
 */
export async function outsideProject(installed: readonly string[]): Promise<OutsideProject> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-outside-'))
  const packages = join(folder, 'node_modules')
  const ours = join(packages, 'pharos')
  mkdirSync(ours, { recursive: true })
  await run('tar', ['-xzf', inject('packed'), '-C', ours, '--strip-components=1'])
  for (const name of [...installed, 'js-yaml']) {
    mkdirSync(dirname(join(packages, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(packages, name))
  }
  return {
    folder,
    node: (script, ...args) => runScript(folder, join(packages, script), args),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function runScript(folder: string, script: string, args: readonly string[]): Promise<ProgramResult> {
  const options = { cwd: folder, env: { ...process.env, CHECKPOINT_DISABLE: '1' } }
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` })
    })
  })
}
