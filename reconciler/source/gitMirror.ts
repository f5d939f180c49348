import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../api/runtime/makeFolder.ts'
import type { GitAccess } from '../git/gitAccess.ts'
import { GitError, GitTooMuch, runGit } from '../git/gitProgram.ts'
import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'
import { signatureProblem } from './gitSignature.ts'

/** Default time limit of a transfer, and time limit of work on the disk (milliseconds). */
const TRANSFER_MS_MAX = 10 * 60_000
const LOCAL_MS_MAX = 60_000

/** Default size limit of a transfer (MiB). */
const TRANSFER_MIB_MAX = 1_024

/** The parts of a mirror. */
export interface MirrorOptions {
  readonly access: GitAccess
  readonly branch: string
  /** Folder of the mirror: made when it is not there, and removed when it is broken. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Longest transfer (milliseconds); ten minutes when absent. */
  readonly transferMsMax?: number | undefined
  /** Largest transfer (MiB); 1,024 when absent. */
  readonly transferMiBMax?: number | undefined
}

/** The repository could not be read. The mirror keeps what it had. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable'
  /** `no-branch`: the repository answers, but has no such branch. */
  readonly reason: 'no-branch' | 'unreachable'

  constructor(message: string, reason: 'no-branch' | 'unreachable', options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The mirror on this disk lacks something that it should have. */
export class BrokenMirror extends Error {
  override readonly name = 'BrokenMirror'
}

/** A commit, with texts as they stand in the repository. */
export interface Commit {
  readonly sha: string
  readonly subject: string
  readonly author: string
  /** ISO 8601. */
  readonly at: string
  /** Digests that its trailers `Pharos-Approve:` name. */
  readonly approvals: readonly string[]
}

/** A bare copy of one branch of a repository. Nothing is ever checked out, so nothing in it can run or be followed. */
export interface Mirror {
  /**
   * Brings the newest commit of the branch here; its SHA. A mirror that fails although the repository answers,
   * because a killed process or a bad disk left it broken, is made anew, once. Throws SourceUnavailable.
   */
  fetch(signal?: AbortSignal): Promise<string>
  /** Throws BrokenMirror, and SourceUnavailable for a message that is too long. */
  commit(sha: string): Promise<Commit>
  /** Whether `descendant` contains `ancestor`; false too when the mirror no longer has one of them. */
  contains(descendant: string, ancestor: string): Promise<boolean>
  /** Why the commit does not count as signed by an allowed key; null when it is. */
  signatureProblem(sha: string): Promise<string | null>
  /** Runs git in the mirror. Throws GitTooMuch, and BrokenMirror for everything else that goes wrong. */
  read(args: readonly string[], input?: string): Promise<Buffer>
  /** Removes the mirror: the next fetch makes it anew. */
  discard(): void
}

/** The mirror at `options.directory`; nothing is done yet. */
export function mirrorOf(options: MirrorOptions): Mirror {
  const { access, directory, env } = options
  const call = (args: readonly string[], extra: { input?: string; limitMs?: number; signal?: AbortSignal }) =>
    runGit({ access, directory, env, args, limitMs: LOCAL_MS_MAX, ...extra })
  const read = async (args: readonly string[], input?: string): Promise<Buffer> => {
    try {
      return await call(args, input === undefined ? {} : { input })
    } catch (error) {
      if (!(error instanceof GitError) || error instanceof GitTooMuch) throw error
      throw new BrokenMirror(`the mirror ${directory} cannot be read: ${error.message}`, { cause: error })
    }
  }
  const discard = (): void => rmSync(directory, { recursive: true, force: true })
  return {
    fetch: fetching(options, { read, discard }),
    commit: async (sha) => {
      try {
        return commitIn(await read(['log', '-1', '--no-mailmap', `--format=${FORMAT}`, sha]))
      } catch (error) {
        if (!(error instanceof GitTooMuch)) throw error
        throw new SourceUnavailable(
          `the message of commit ${sha} is too long: ${error.message}`,
          'unreachable',
        )
      }
    },
    contains: async (descendant, ancestor) => {
      try {
        await call(['merge-base', '--is-ancestor', ancestor, descendant], {})
        return true
      } catch (error) {
        if (error instanceof GitError) return false
        throw error
      }
    },
    signatureProblem: (sha) => signatureProblem(options, sha),
    read,
    discard,
  }
}

/** How the mirror gets the newest commit of the branch. */
function fetching(
  options: MirrorOptions,
  { read, discard }: Pick<Mirror, 'read' | 'discard'>,
): Mirror['fetch'] {
  const { branch, directory } = options
  let isSwept = false
  // A repository that git refuses however often it is copied must not be copied at every look.
  let mayStartAnew = true
  // What cannot be tidied now cannot be at the next look either, and each one would take its time.
  let mayTidy = true
  return async (signal) => {
    if (!isSwept) removeLeftovers(directory)
    isSwept = true
    try {
      await fetchInto(options, signal)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // A command that was stopped, or never began, says nothing about the mirror; but it may have left half a pack behind.
      if (error.exitCode === null) {
        isSwept = false
        throw unreachable(options, error)
      }
      await refuseWhenUnavailable(options, error, signal)
      if (!mayStartAnew) throw unreachable(options, error)
      mayStartAnew = false
      discard()
      await fetchInto(options, signal).catch((again: unknown) => {
        throw again instanceof GitError ? unreachable(options, again) : again
      })
    }
    mayStartAnew = true
    refuseShallow(options)
    if (mayTidy) mayTidy = await tidied(options, signal)
    return (await read(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`]))
      .toString()
      .trim()
  }
}

/** Fields of a commit, one after the other with a zero byte between. */
const FORMAT = `%H%x00%<(500,trunc)%s%x00%<(200,trunc)%an%x00%cI%x00${APPROVAL_TRAILERS}`

function commitIn(output: Buffer): Commit {
  const [sha = '', subject = '', author = '', at = '', approvals = ''] = output
    .toString('utf8')
    .trimEnd()
    .split('\0')
  return {
    sha,
    subject: shown(subject),
    author: shown(author),
    at,
    approvals: approvalsIn(approvals),
  }
}

/** Without what a terminal or a page would take for an instruction. */
function shown(text: string): string {
  return text.trim().replaceAll(/\p{Cc}/gu, '…')
}

async function fetchInto(options: MirrorOptions, signal: AbortSignal | undefined): Promise<void> {
  const { access, branch, directory, env } = options
  const { transferMsMax = TRANSFER_MS_MAX, transferMiBMax = TRANSFER_MIB_MAX } = options
  const common = { access, directory, env, signal }
  if (!existsSync(directory)) {
    makeFolder(directory, OWNER_ONLY)
    await runGit({ ...common, args: ['init', '--quiet', '--bare', '--template='], limitMs: LOCAL_MS_MAX })
  }
  // Without --update-shallow a branch whose history is cut off would stay where it was, without a word.
  const quiet = [
    '--quiet',
    '--no-tags',
    '--prune',
    '--force',
    '--no-write-fetch-head',
    '--update-shallow',
    NOT_TIDIED,
  ]
  const refspec = `+refs/heads/${branch}:refs/heads/${branch}`
  const fileBytesMax = transferMiBMax * 1024 * 1024
  try {
    await runGit({
      ...common,
      args: ['fetch', ...quiet, '--no-recurse-submodules', '--', access.url, refspec],
      limitMs: transferMsMax,
      fileBytesMax,
    })
  } catch (error) {
    const isFull = leftoversIn(directory).some((file) => statSync(file).size >= fileBytesMax)
    if (!(error instanceof GitError) || !isFull) throw error
    removeLeftovers(directory)
    throw new GitTooMuch(
      `a transfer brought more than ${transferMiBMax} MiB: keep manifests in a smaller repository, or raise "fetchMiB"`,
      null,
    )
  }
}

/** Tidying writes all that ever came as one file, which the limit of a transfer is not for. */
const NOT_TIDIED = '--no-auto-maintenance'

/** Makes few packs of the many that transfers left, whenever git holds it for due; false where it could not. */
async function tidied(options: MirrorOptions, signal: AbortSignal | undefined): Promise<boolean> {
  const { access, directory, env, transferMsMax: limitMs = TRANSFER_MS_MAX } = options
  try {
    await runGit({ access, directory, env, signal, args: ['gc', '--auto', '--quiet'], limitMs })
    return true
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    removeLeftovers(directory)
    return false
  }
}

/** What a transfer that was killed left half-done: it may be as large as the repository, and nothing ever uses it. */
function removeLeftovers(directory: string): void {
  for (const file of leftoversIn(directory)) rmSync(file, { force: true })
}

function leftoversIn(directory: string): readonly string[] {
  const packs = join(directory, 'objects', 'pack')
  if (!existsSync(packs)) return []
  return readdirSync(packs).flatMap((name) => (/^(?:tmp_|\.tmp-)/.test(name) ? [join(packs, name)] : []))
}

/** Without the history it is unknown whether a branch still contains the applied commit. */
function refuseShallow({ access, directory }: MirrorOptions): void {
  if (!existsSync(join(directory, 'shallow'))) return
  rmSync(directory, { recursive: true, force: true })
  const message = `${access.url} has only a part of its history: fetch the rest into it`
  throw new SourceUnavailable(message, 'unreachable')
}

/** Throws SourceUnavailable unless the repository answers and has the branch. */
async function refuseWhenUnavailable(
  options: MirrorOptions,
  failure: GitError,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { access, branch, env } = options
  const ref = `refs/heads/${branch}`
  // Elsewhere than in the mirror, which may be what is broken.
  const elsewhere = {
    access,
    directory: '/',
    env,
    signal,
    limitMs: Math.min(LOCAL_MS_MAX, options.transferMsMax ?? LOCAL_MS_MAX),
  }
  let listed: Buffer
  try {
    listed = await runGit({ ...elsewhere, args: ['ls-remote', '--heads', '--', access.url, ref] })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw unreachable(options, error)
  }
  if (listed.toString().includes(ref)) return
  throw new SourceUnavailable(`${access.url} has no branch ${branch}`, 'no-branch', { cause: failure })
}

function unreachable({ access }: MirrorOptions, error: GitError): SourceUnavailable {
  return new SourceUnavailable(`${access.url} cannot be read: ${error.message}`, 'unreachable', {
    cause: error,
  })
}
