import { accessSync, constants, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../api/runtime/makeFolder.ts'
import type { GitAccess } from '../git/gitAccess.ts'
import { GitError, GitOutputTooLarge, runGit } from '../git/gitProgram.ts'
import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'
import { signatureProblem } from './gitSignature.ts'

/** Default time limit of a transfer, and time limit of local git commands (milliseconds). */
const TRANSFER_MS_MAX = 10 * 60_000
const LOCAL_MS_MAX = 60_000

/** Default size limit of a transfer (MiB). */
const TRANSFER_MIB_MAX = 1_024

/** Settings of a mirror. */
export interface MirrorOptions {
  readonly access: GitAccess
  readonly branch: string
  /** Folder of the mirror, created when missing and removed when broken. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Longest transfer (milliseconds); ten minutes when absent. */
  readonly transferMsMax?: number | undefined
  /** Largest transfer (MiB); 1,024 when absent. */
  readonly transferMiBMax?: number | undefined
}

/** The repository could not be read. The mirror is unchanged. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable'
  /** `no-branch`: the repository responds, but has no such branch. */
  readonly reason: 'no-branch' | 'unreachable'

  constructor(message: string, reason: 'no-branch' | 'unreachable', options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** The local mirror is damaged. */
export class BrokenMirror extends Error {
  override readonly name = 'BrokenMirror'
}

/** A commit; its texts come from the repository. */
export interface Commit {
  readonly sha: string
  readonly subject: string
  readonly author: string
  /** ISO 8601. */
  readonly at: string
  /** Digests in its trailers `Pharos-Approve:`. */
  readonly approvals: readonly string[]
}

/** A bare copy of one branch of a repository. Nothing is ever checked out, so nothing in it can run or be followed. */
export interface Mirror {
  /**
   * Fetches the newest commit of the branch; returns its SHA. A mirror that fails although the repository responds, for
   * example after a crash, is created again, once. Throws SourceUnavailable.
   */
  fetch(signal?: AbortSignal): Promise<string>
  /** Throws BrokenMirror, and SourceUnavailable for a message that is too long. */
  commit(sha: string): Promise<Commit>
  /** Whether `descendant` contains `ancestor`; false when the mirror lacks one of them. */
  contains(descendant: string, ancestor: string): Promise<boolean>
  /** Why the commit has no valid signature of an allowed key; null when it has one. Throws SourceUnavailable. */
  signatureProblem(sha: string): Promise<string | null>
  /** Runs git in the mirror. Throws GitOutputTooLarge, and BrokenMirror for other failures. */
  read(args: readonly string[], input?: string): Promise<Buffer>
  /** Removes the mirror; the next fetch creates it again. */
  discard(): void
}

/** The mirror at `options.directory`; does not access it yet. */
export function mirrorOf(options: MirrorOptions): Mirror {
  const { access, directory, env } = options
  const call = (args: readonly string[], extra: { input?: string; limitMs?: number; signal?: AbortSignal }) =>
    runGit({ access, directory, env, args, limitMs: LOCAL_MS_MAX, ...extra })
  const read = async (args: readonly string[], input?: string): Promise<Buffer> => {
    try {
      return await call(args, input === undefined ? {} : { input })
    } catch (error) {
      if (!(error instanceof GitError) || error instanceof GitOutputTooLarge) throw error
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
        if (!(error instanceof GitOutputTooLarge)) throw error
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
    signatureProblem: async (sha) => {
      try {
        return await signatureProblem(options, sha)
      } catch (error) {
        if (!(error instanceof GitError)) throw error
        const message = `the signature of commit ${sha} cannot be checked: ${error.message}`
        throw new SourceUnavailable(message, 'unreachable', { cause: error })
      }
    },
    read,
    discard,
  }
}

/** The method `fetch` of a mirror. */
function fetching(
  options: MirrorOptions,
  { read, discard }: Pick<Mirror, 'read' | 'discard'>,
): Mirror['fetch'] {
  const { branch, directory } = options
  let isSwept = false
  // A repository that git refuses must not be copied again at every fetch.
  let mayStartAnew = true
  // A garbage collection that failed once is not tried at every fetch.
  let mayCollectGarbage = true
  /** The head after the last fetch. While it stays there is no garbage to collect. */
  let lastHead: string | undefined
  return async (signal) => {
    if (!isSwept) removeLeftovers(directory)
    isSwept = true
    try {
      await fetchInto(options, signal)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      // A stopped command does not imply a broken mirror, but may have left a partial pack.
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
    const head = (await read(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`]))
      .toString()
      .trim()
    if (mayCollectGarbage && head !== lastHead) mayCollectGarbage = await collectGarbage(options, signal)
    lastHead = head
    return head
  }
}

/** Fields of a commit, separated by zero bytes. */
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

/** Replaces control characters. */
function shown(text: string): string {
  return text.trim().replaceAll(/\p{Cc}/gu, '…')
}

async function fetchInto(options: MirrorOptions, signal: AbortSignal | undefined): Promise<void> {
  const { access, branch, directory, env } = options
  const { transferMsMax = TRANSFER_MS_MAX, transferMiBMax = TRANSFER_MIB_MAX } = options
  const common = { access, directory, env, signal }
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) {
    // Otherwise git would seem to be missing, because it cannot be started in the folder.
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } else {
    rmSync(directory, { force: true })
    makeFolder(directory, OWNER_ONLY)
    await runGit({ ...common, args: ['init', '--quiet', '--bare', '--template='], limitMs: LOCAL_MS_MAX })
  }
  // Without --update-shallow a shallow branch would silently not be updated.
  const quiet = [
    '--quiet',
    '--no-tags',
    '--prune',
    '--force',
    '--no-write-fetch-head',
    '--update-shallow',
    NO_MAINTENANCE,
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
    throw new GitOutputTooLarge(
      `a transfer brought more than ${transferMiBMax} MiB: keep manifests in a smaller repository, or raise "fetchMiB"`,
      null,
    )
  }
}

/** Maintenance writes the whole history as one file, to which the limit of a transfer does not apply. */
const NO_MAINTENANCE = '--no-auto-maintenance'

/** Runs git's automatic garbage collection; returns whether it succeeded. */
async function collectGarbage(options: MirrorOptions, signal: AbortSignal | undefined): Promise<boolean> {
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

/** Removes partial packs of killed transfers, which may be as large as the repository. */
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
  const message = `${access.url} is a shallow repository: fetch its complete history ("git fetch --unshallow")`
  throw new SourceUnavailable(message, 'unreachable')
}

/** Throws SourceUnavailable unless the repository responds and has the branch. */
async function refuseWhenUnavailable(
  options: MirrorOptions,
  failure: GitError,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { access, branch, env } = options
  const ref = `refs/heads/${branch}`
  // Not in the mirror, which may be broken.
  const elsewhere = {
    access,
    directory: '/',
    env,
    signal,
    limitMs: Math.min(LOCAL_MS_MAX, options.transferMsMax ?? LOCAL_MS_MAX),
  }
  let listed: Buffer
  try {
    listed = await runGit({ ...elsewhere, args: ['ls-remote', '--symref', '--', access.url, ref, 'HEAD'] })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw unreachable(options, error)
  }
  const refs = listed.toString()
  if (refs.split('\n').some((line) => line.endsWith(`\t${ref}`))) return
  const reason = `${access.url} has no branch ${branch}${otherBranchText(refs)}`
  throw new SourceUnavailable(reason, 'no-branch', { cause: failure })
}

/**
 * What there is instead of the branch. git reads some web pages, such as an empty one, as a repository without commits.
 */
function otherBranchText(refs: string): string {
  const [, head] = /^ref: refs\/heads\/(.*)\tHEAD$/m.exec(refs) ?? []
  if (head !== undefined) return `; its default branch is ${head}`
  return refs === '' ? ' and no default branch: it has no commits, or the address leads to a web page' : ''
}

function unreachable({ access }: MirrorOptions, error: GitError): SourceUnavailable {
  return new SourceUnavailable(`${access.url} cannot be read: ${error.message}`, 'unreachable', {
    cause: error,
  })
}
