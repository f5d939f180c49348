import { type ChildProcess, spawn } from 'node:child_process'
import { TIMER_MS_MAX } from '../../api/client/limiter.ts'
import type { GitCall } from './gitCall.ts'
import { environmentOf } from './gitEnvironment.ts'
import { explained } from './gitFailure.ts'

/** git ended with an error. `message` is what git said and what to do about it, without any credential. */
export class GitError extends Error {
  override readonly name: string = 'GitError'
  /** Null when it was ended by a signal, such as that of the time limit. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

/** git was about to return more than any set needs, and was ended. */
export class GitTooMuch extends GitError {
  override readonly name = 'GitTooMuch'
}

/** Longest text of git that is kept to explain its failure (characters). */
const SAID_CHARS_MAX = 8_000
/** Most that one call may give back (bytes): the manifests of the largest set, and what git says around them. */
const OUTPUT_BYTES_MAX = 96 * 1024 * 1024

/**
 * Runs the real git, without a shell, and resolves to its output. When it takes too long, says too much or is no
 * longer wanted, everything that it started ends with it. Throws GitError, or the signal's reason.
 */
export function runGit(call: GitCall): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted === true) return reject(call.signal.reason)
    const child = spawn(...commandOf(call), {
      cwd: call.directory,
      env: environmentOf(call),
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: a transfer is the work of processes that git starts.
      detached: true,
    })
    const end = (): void => endGroup(child)
    let isLate = false
    const timer = setTimeout(
      () => {
        isLate = true
        end()
      },
      Math.min(call.limitMs, TIMER_MS_MAX),
    )
    call.signal?.addEventListener('abort', end)
    const chunks: Buffer[] = []
    let bytes = 0
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > OUTPUT_BYTES_MAX) end()
      else chunks.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (said.length < SAID_CHARS_MAX) said += chunk.toString('utf8')
    })
    child.on('error', (error) => reject(notStarted(error)))
    child.on('close', (exitCode, killedBy) => {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', end)
      if (bytes > OUTPUT_BYTES_MAX) reject(tooMuch(call))
      else if (exitCode === 0) resolve(Buffer.concat(chunks))
      else if (call.signal?.aborted === true) reject(call.signal.reason)
      else if (call.fileBytesMax !== undefined && exitCode === NOT_FOUND)
        reject(notStarted(new Error('it is not there')))
      else if (isLate)
        reject(new GitError(`git ${call.args[0]} was ended after ${call.limitMs / 1_000} s`, null))
      else reject(new GitError(messageOf(said, call, exitCode ?? killedBy), exitCode))
    })
    // git may end before it has read all: what it then says is the better message.
    child.stdin.on('error', () => {})
    child.stdin.end(call.input ?? '')
  })
}

/** Blocks in which a shell counts the size of files (bytes). */
const BLOCK_BYTES = 512
/** How a shell ends that does not find the program. */
const NOT_FOUND = 127

/** The program and its arguments. Only a shell can set limits, which the programs that git starts have as well. */
function commandOf({ args, fileBytesMax }: GitCall): [string, string[]] {
  if (fileBytesMax === undefined) return ['git', [...args]]
  const blocks = Math.ceil(fileBytesMax / BLOCK_BYTES)
  // A lower one that is in force already cannot be raised, and need not be.
  return ['sh', ['-c', 'ulimit -f "$0" 2>/dev/null; exec git "$@"', String(blocks), ...args]]
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It ended by itself in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function notStarted(error: Error): GitError {
  return new GitError(`git could not be started: ${error.message}; install git, or correct PATH`, null)
}

function tooMuch({ args }: GitCall): GitTooMuch {
  return new GitTooMuch(`git ${args[0]} gave back more than ${OUTPUT_BYTES_MAX / 1024 / 1024} MiB`, null)
}

function messageOf(said: string, { access, args }: GitCall, end: number | NodeJS.Signals | null): string {
  const text = explained(said, access)
  return text === '' ? `git ${args[0]} ended with ${end}` : text
}
