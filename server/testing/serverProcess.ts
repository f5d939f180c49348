import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The built program that users run; the build precedes the tests. */
export const PROGRAM = fileURLToPath(new URL('../../dist/pharos-server.js', import.meta.url))

/** A server in a separate process. */
export interface ServerProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Address of health and metrics; `undefined` without --admin-port, or before it was printed. */
  readonly adminUrl: () => string | undefined
  /** Address of the status pages; `undefined` without --status-port, or before it was printed. */
  readonly statusUrl: () => string | undefined
  /** The output on stdout so far. */
  readonly stdout: () => string
  /** Kills the process, like a power cut. Resolves when it has exited. */
  readonly kill: () => Promise<void>
  /** Asks the process to stop. Resolves with the exit code. */
  readonly stop: () => Promise<number | null>
  /** The output on stderr so far. */
  readonly stderr: () => string
}

/** Settings of a process. */
export interface ProcessOptions {
  /** The user id of the process, which only root may choose. Default: the current user. */
  readonly uid?: number | undefined
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>
  /** File of the program; PROGRAM when absent. */
  readonly program?: string
  /** A command with its first arguments that runs the program: `strace -D`. */
  readonly under?: readonly string[]
}

/**
 * Starts the built program on a data folder, or on the database of the flags `data`. Resolves when it responds; rejects
 * with its stderr when it does not.
 */
export async function startProcess(
  data: string | readonly string[],
  args: readonly string[] = [],
  { uid, environment, program = PROGRAM, under = [] }: ProcessOptions = {},
): Promise<ServerProcess> {
  const [command = '', ...first] = [...under, process.execPath, program]
  const place = typeof data === 'string' ? ['--data-dir', data] : data
  const child = spawn(
    command,
    [...first, 'serve', ...place, '--port', '0', '--log-level', 'error', ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      ...(uid === undefined ? {} : { uid }),
    },
  )
  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  // Not 'exit', at which some of the output may still be unread.
  const exited = once(child, 'close')
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      const found = /^listening on (\S+)$/m.exec(stdout)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.on('close', () => reject(new Error(stderr)))
  })
  return {
    url,
    child,
    adminUrl: () => /^admin on (\S+)$/m.exec(stdout)?.[1],
    statusUrl: () => /^status pages on (\S+)$/m.exec(stdout)?.[1],
    stdout: () => stdout,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
    stderr: () => stderr,
  }
}

/** Runs a subcommand of the built program to its end, in the folder `cwd` if it is given. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    ...(cwd === undefined ? {} : { cwd }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}
