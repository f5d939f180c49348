import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type ProgramRun, runHere } from './programHere.ts'

const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')

/** A folder of manifests and a state beside it, and the program to run on them. It can be made afresh for each test. */
export class Workplace {
  folder = ''
  statePath = ''
  /** What the program has of an environment: nothing else of ours. */
  env: Record<string, string> = {}

  /** Makes it, empty, for a program that talks to `url` with `apiKey`. */
  make({ url, apiKey }: { readonly url: string; readonly apiKey: string }): void {
    this.folder = mkdtempSync(join(tmpdir(), 'pharos-work-'))
    this.statePath = join(this.folder, 'pharos.db')
    this.env = { PATH: process.env.PATH ?? '', PHAROS_URL: url, PHAROS_API_KEY: apiKey }
    mkdirSync(join(this.folder, 'manifests'))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true })
  }

  /** Writes or, with null, removes manifest files. */
  write(files: Readonly<Record<string, string | null>>): void {
    for (const [name, text] of Object.entries(files)) {
      const path = join(this.folder, 'manifests', name)
      mkdirSync(dirname(path), { recursive: true })
      if (text === null) rmSync(path)
      else writeFileSync(path, text)
    }
  }

  /**
   * Runs `pharos COMMAND manifests --state … ARGS`; a command may be of two words. In this process, which takes a tenth
   * of the time of a new one: the tests beside main.ts start whole programs.
   */
  run(command: string, ...args: readonly string[]): Promise<ProgramRun> {
    const { folder: cwd, env, statePath } = this
    const whole = [...command.split(' '), join(cwd, 'manifests'), '--state', statePath, ...args]
    return runHere(whole, env, { cwd })
  }

  /** Starts the same in a process of its own, without waiting for it. */
  start(command: string, options: SpawnOptions = {}): ChildProcess {
    const { folder: cwd, env } = this
    const whole = [PROGRAM, ...command.split(' '), 'manifests', '--state', 'pharos.db']
    return spawn(process.execPath, whole, { cwd, env, ...options })
  }
}

/** Starts the program with exactly `args`. */
export function startProgram(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env.PATH ?? '', ...env } })
}

/** Runs the program with exactly `args`. */
export function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  user: Pick<SpawnOptions, 'uid' | 'gid'> = {},
): Promise<ProgramRun> {
  return finished(
    spawn(process.execPath, [PROGRAM, ...args], { env: { PATH: process.env.PATH ?? '', ...env }, ...user }),
  )
}

/** Resolves when `child` has ended and its output has been read. */
export function finished(child: ChildProcess): Promise<ProgramRun> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
}

/** A small valid Service manifest; `more` goes below `spec:`, indented by two. */
export function manifestOf(name: string, more = ''): string {
  return `apiVersion: pharos/v1
kind: Service
metadata: {name: ${name}}
spec:
  interval: 60s
  regions: [eu-west-1]
  endpoints:
    - url: https://${name}.example.com/
${more}`
}
