import { accessSync, constants, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, OWNER_ONLY } from '../../api/runtime/makeFolder.ts'
import { makeBareRepository } from '../git/bareRepository.ts'
import type { GitAccess } from '../git/gitAccess.ts'
import { GitError, GitOutputTooLarge, runGit } from '../git/gitProgram.ts'
import { type Commit, commitArgs, commitIn } from './gitCommit.ts'
import { signatureProblem } from './gitSignature.ts'
import { hasLargeLeftover, PACKS_MAX, packsIn, removeLeftovers } from './mirrorPacks.ts'

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
}

/** The local mirror is damaged. */
export class BrokenMirror extends Error {
  override readonly name = 'BrokenMirror'
}

/** A bare copy of one branch of a repository. Nothing is ever checked out, so nothing in it can run or be followed. */
export interface Mirror {
  /**
   * Fetches the newest commit of the branch; returns its SHA. A mirror that fails although the repository responds, for
   * example after a crash, is created again, once. Throws SourceUnavailable.
   */
  fetch(signal?: AbortSignal): Promise<string>
  /** Throws BrokenMirror. */
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
  const fetchHead = fetching(options, discard)
  /** The commit of the last fetch. */
  let head: Commit | undefined
  return {
    fetch: async (signal) => {
      head = await fetchHead(signal)
      return head.sha
    },
    commit: async (sha) => (head?.sha === sha ? head : commitIn(await read(commitArgs(sha)))),
    contains: async (descendant, ancestor) => {
      // Most pushes add one commit.
      if (head?.sha === descendant && head.parents.includes(ancestor)) return true
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
        throw new SourceUnavailable(message, { cause: error })
      }
    },
    read,
    discard,
  }
}

/** The method `fetch` of a mirror, which resolves to the commit. */
function fetching(
  options: MirrorOptions,
  discard: () => void,
): (signal: AbortSignal | undefined) => Promise<Commit> {
  const { directory } = options
  let isSwept = false
  // A repository that git refuses must not be copied again at every fetch.
  let mayStartAnew = true
  /** Number of packs above which garbage is collected. */
  let packsMax = PACKS_MAX
  return async (signal) => {
    if (!isSwept) removeLeftovers(directory)
    isSwept = true
    let head: Commit
    try {
      head = await fetchInto(options, signal)
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
      head = await fetchInto(options, signal).catch((again: unknown) => {
        throw again instanceof GitError ? unreachable(options, again) : again
      })
    }
    mayStartAnew = true
    refuseShallow(options)
    if (packsIn(directory) > packsMax) {
      await collectGarbage(options, signal)
      // If it failed, or git left the packs because another one works on them, this is not repeated at every fetch.
      packsMax = Math.max(PACKS_MAX, 2 * packsIn(directory))
    }
    return head
  }
}

/** Fetches the branch; resolves to its newest commit. Throws GitError, and errors of Node for the folder. */
async function fetchInto(options: MirrorOptions, signal: AbortSignal | undefined): Promise<Commit> {
  const { access, branch, directory, env } = options
  const { transferMsMax = TRANSFER_MS_MAX, transferMiBMax = TRANSFER_MIB_MAX } = options
  const common = { access, directory, env, signal }
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) {
    // Otherwise git would seem to be missing, because it cannot be started in the folder.
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } else {
    rmSync(directory, { force: true })
    makeFolder(directory, OWNER_ONLY)
    makeBareRepository(directory)
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
    const output = await runGit({
      ...common,
      args: ['fetch', ...quiet, '--no-recurse-submodules', '--', access.url, refspec],
      next: commitArgs(`refs/heads/${branch}`),
      limitMs: transferMsMax,
      fileBytesMax,
    })
    return commitIn(output)
  } catch (error) {
    // Only the message of the commit is printed.
    if (error instanceof GitOutputTooLarge)
      throw new GitOutputTooLarge(`the message of the newest commit of ${branch} is too long`, null)
    if (!(error instanceof GitError) || !hasLargeLeftover(directory, fileBytesMax)) throw error
    removeLeftovers(directory)
    throw new GitOutputTooLarge(
      `a transfer brought more than ${transferMiBMax} MiB: keep manifests in a smaller repository, or raise "fetchMiB"`,
      null,
    )
  }
}

/** Maintenance writes the whole history as one file, to which the limit of a transfer does not apply. */
const NO_MAINTENANCE = '--no-auto-maintenance'

/** Runs git's automatic garbage collection. If it fails, the mirror is usable all the same. */
async function collectGarbage(options: MirrorOptions, signal: AbortSignal | undefined): Promise<void> {
  const { access, directory, env, transferMsMax: limitMs = TRANSFER_MS_MAX } = options
  try {
    await runGit({ access, directory, env, signal, args: ['gc', '--auto', '--quiet'], limitMs })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    removeLeftovers(directory)
  }
}

/** Without the history it is unknown whether a branch still contains the applied commit. */
function refuseShallow({ access, directory }: MirrorOptions): void {
  if (!existsSync(join(directory, 'shallow'))) return
  rmSync(directory, { recursive: true, force: true })
  const message = `${access.url} is a shallow repository: fetch its complete history ("git fetch --unshallow")`
  throw new SourceUnavailable(message)
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
  throw new SourceUnavailable(reason, { cause: failure })
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
  return new SourceUnavailable(`${access.url} cannot be read: ${error.message}`, { cause: error })
}
