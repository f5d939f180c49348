import { type ChildProcess, spawn } from 'node:child_process'
import { TIMER_MS_MAX } from '../../api/client/limiter.ts'
import { codeOf } from '../../api/runtime/errorCode.ts'
import { fileReason } from '../../api/runtime/fileReason.ts'
import type { GitCall } from './gitCall.ts'
import { environmentOf, PACKETS_FD } from './gitEnvironment.ts'
import { failureText, NOT_FROM_GIT } from './gitFailure.ts'
import { shellQuoted } from './shellQuoted.ts'

/** git ended with an error. `message` is that of git, with advice and without credentials. */
export class GitError extends Error {
  override readonly name: string = 'GitError'
  /** Null when a signal ended it, for example after the time limit. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null) {
    super(message)
    this.exitCode = exitCode
  }
}

/** git was ended because it returned more than any set needs. */
export class GitOutputTooLarge extends GitError {
  override readonly name = 'GitOutputTooLarge'
}

/** Maximum of stderr that is kept to explain a failure (characters). */
const STDERR_CHARS_MAX = 8_000
/** Maximum output of one call (bytes): the manifests of the largest set, with git's headers. */
const OUTPUT_BYTES_MAX = 96 * 1024 * 1024

/**
 * Runs git and resolves to its output. After the time limit, too much output or an abort, git and all processes that it started
 * are killed. Throws GitError, or the reason of the signal.
 */
export function runGit(call: GitCall): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted === true) return reject(call.signal.reason)
    const child = spawn(...commandOf(call), {
      cwd: call.directory,
      env: environmentOf(call),
      stdio: ['pipe', 'pipe', 'pipe', ...(call.protocolOnly === true ? ['pipe' as const] : [])],
      // A process group, because git starts further processes for a transfer.
      detached: true,
    })
    child.on('error', (error) => reject(notStarted(error)))
    // Without free file descriptors it has no streams either.
    if (!child.stdin || !child.stdout || !child.stderr) return
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
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > OUTPUT_BYTES_MAX) end()
      else chunks.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < STDERR_CHARS_MAX) stderr += chunk.toString('utf8')
    })
    let hasPackets = false
    child.stdio[PACKETS_FD]?.on('data', () => {
      hasPackets = true
    })
    child.on('close', (exitCode, killedBy) => {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', end)
      if (bytes > OUTPUT_BYTES_MAX) reject(tooMuch(call))
      else if (exitCode !== 0 && call.signal?.aborted === true) reject(call.signal.reason)
      else {
        const failure = failureAfter(call, { exitCode, killedBy, isLate, stderr, hasPackets })
        if (failure === null) resolve(Buffer.concat(chunks))
        else reject(failure)
      }
    })
    // git may end before it has read all of its input: its own message is better than EPIPE.
    child.stdin.on('error', () => {})
    child.stdin.end(call.input ?? '')
  })
}

/** Block size of `ulimit -f` (bytes). */
const BLOCK_BYTES = 512
/** Exit code of a shell that does not find the program. */
const NOT_FOUND = 127
/** Exit codes of a shell between these two name the signal that ended the program. git itself exits with 129, or 255. */
const SIGNAL_FROM = 129
const SIGNAL_TO = 255

/** A file size limit needs a shell, and applies to all processes that git starts; so does a second call. */
function needsShell({ fileBytesMax, next }: GitCall): boolean {
  return fileBytesMax !== undefined || next !== undefined
}

/** The program and its arguments. */
function commandOf(call: GitCall): [string, string[]] {
  const { args, next, fileBytesMax } = call
  if (!needsShell(call)) return ['git', [...args]]
  const limit =
    fileBytesMax === undefined
      ? []
      : // A lower limit that is already in force cannot and need not be raised.
        [`ulimit -f ${Math.ceil(fileBytesMax / BLOCK_BYTES)} 2>/dev/null`]
  const first = next === undefined ? [] : [`${commandText(args)} || exit`]
  return ['sh', ['-c', [...limit, ...first, `exec ${commandText(next ?? args)}`].join('\n')]]
}

function commandText(args: readonly string[]): string {
  return ['git', ...args.map(shellQuoted)].join(' ')
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
  const reason = /^E[MN]FILE$/.test(codeOf(error))
    ? fileReason(error)
    : `${error.message}; install git, or correct PATH`
  return new GitError(`git could not be started: ${reason}`, null)
}

function tooMuch({ args }: GitCall): GitOutputTooLarge {
  return new GitOutputTooLarge(
    `git ${args[0]} returned more than ${OUTPUT_BYTES_MAX / 1024 / 1024} MiB`,
    null,
  )
}

/** How a call ended. */
interface End {
  readonly exitCode: number | null
  readonly killedBy: NodeJS.Signals | null
  readonly isLate: boolean
  readonly stderr: string
  /** Whether it told of a packet, when it was asked to. */
  readonly hasPackets: boolean
}

/** Why a call did not succeed; null when it did. Pure. */
function failureAfter(
  call: GitCall,
  { exitCode, killedBy, isLate, stderr, hasPackets }: End,
): GitError | null {
  if (exitCode === 0)
    return call.protocolOnly === true && !hasPackets ? new GitError(NOT_FROM_GIT, exitCode) : null
  if (needsShell(call) && exitCode === NOT_FOUND) return notStarted(new Error('it does not exist'))
  if (isLate) return new GitError(lateText(call), null)
  const isKilled = exitCode === null || (needsShell(call) && exitCode > SIGNAL_FROM && exitCode < SIGNAL_TO)
  return new GitError(messageOf(stderr, call, exitCode ?? killedBy), isKilled ? null : exitCode)
}

function lateText({ access, args, limitMs }: GitCall): string {
  const cause = access.scheme === 'file' ? '' : ': the host is slow, or does not respond'
  return `git ${args[0]} was ended after ${limitMs / 1_000} s${cause}`
}

function messageOf(stderr: string, { access, args }: GitCall, end: number | NodeJS.Signals | null): string {
  const text = failureText(stderr, access)
  return text === '' ? `git ${args[0]} ended with ${end}` : text
}
