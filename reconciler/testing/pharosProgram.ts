import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { finished } from './processes.ts'
import type { ProgramRun } from './programHere.ts'
import type { TestWorkspace } from './testWorkspace.ts'

/** The program as a user runs it, built before the tests start. */
const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')

/** Starts the program with exactly `args` in a process of its own. Tests that need no process use `runHere`. */
export function startProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    ...options,
  })
}

/** Starts `pharos COMMAND manifests --state pharos.db` in the workplace. */
export function startIn(
  { folder: cwd, env }: TestWorkspace,
  command: string,
  options: SpawnOptions = {},
): ChildProcess {
  return startProgram([command, 'manifests', '--state', 'pharos.db'], env, { cwd, ...options })
}

/** Runs the program with exactly `args` in a process of its own. */
export function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  user: Pick<SpawnOptions, 'uid' | 'gid'> = {},
): Promise<ProgramRun> {
  return finished(startProgram(args, env, user))
}
