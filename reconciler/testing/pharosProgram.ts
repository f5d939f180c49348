import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')

/** What one run of the program left behind. */
export interface ProgramRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A folder of manifests and a state beside it, and the program to run on them. */
export interface Workplace {
  readonly folder: string
  readonly statePath: string
  /** Writes or, with null, removes manifest files. */
  readonly write: (files: Readonly<Record<string, string | null>>) => void
  /** Runs `pharos COMMAND manifests --state … ARGS`. */
  readonly run: (command: string, ...args: readonly string[]) => Promise<ProgramRun>
  /** Starts the same without waiting for it. */
  readonly start: (command: string, options?: SpawnOptions) => ChildProcess
  readonly env: Record<string, string>
  readonly remove: () => void
}

/** A fresh workplace whose program talks to `url` with `apiKey`, and has nothing else of our environment. */
export function workplace(access: { readonly url: string; readonly apiKey: string }): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-work-'))
  const manifests = join(folder, 'manifests')
  const statePath = join(folder, 'pharos.db')
  mkdirSync(manifests)
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    PHAROS_URL: access.url,
    PHAROS_API_KEY: access.apiKey,
  }
  const spawned = (command: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess =>
    spawn(process.execPath, [PROGRAM, command, 'manifests', '--state', 'pharos.db', ...args], {
      cwd: folder,
      env,
      ...options,
    })
  return {
    folder,
    statePath,
    env,
    start: (command, options) => spawned(command, [], options),
    write: (files) => {
      for (const [name, text] of Object.entries(files)) {
        const path = join(manifests, name)
        mkdirSync(dirname(path), { recursive: true })
        if (text === null) rmSync(path)
        else writeFileSync(path, text)
      }
    },
    run: (command, ...args) => finished(spawned(command, args)),
    remove: () => rmSync(folder, { recursive: true }),
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
