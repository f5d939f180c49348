import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { visible } from '../../api/contract/visibleText.ts'
import { GitError, runGit } from '../git/gitProgram.ts'
import { isManifestFile } from '../plan/sourceName.ts'
import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'

/** Time limit of local git commands (milliseconds). */
const GIT_MS_MAX = 60_000
/** Suffix of the SHA when the folder differs from the commit, as in `git describe --dirty`. */
const DIRTY = '-dirty'

/** The commit that is checked out in the folder of manifests. */
export interface FolderCommit {
  /** SHA, with `-dirty` when the folder differs from the commit; null when unknown. */
  readonly name: string | null
  /** Digests that the commit approves by its trailers; none when the folder differs from it. */
  readonly approvals: readonly string[]
  /** Why approvals of the commit are ignored; null when they are not, or there are none. */
  readonly notice: string | null
}

/** The commit that is checked out at `path`. Null without a repository, a commit or a usable git. */
export async function folderCommit(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FolderCommit | null> {
  const isFolder = existsSync(path) && statSync(path).isDirectory()
  const directory = isFolder ? resolve(path) : dirname(resolve(path))
  if (!isInCheckout(directory)) return null
  const gitOutput = async (...args: readonly string[]): Promise<string> => {
    const access = { url: directory, scheme: 'file' } as const
    const call = { access, directory, args, limitMs: GIT_MS_MAX, env, usersSettings: true }
    return (await runGit(call)).toString('utf8').trimEnd()
  }
  try {
    const head = await gitOutput(
      'log',
      '-1',
      '--no-show-signature',
      `--format=%H%x00${APPROVAL_TRAILERS}`,
      'HEAD',
      '--',
    )
    const [sha = '', trailers = ''] = head.split('\0')
    const status = await gitOutput(
      'status',
      '--porcelain',
      '-z',
      '--untracked-files=all',
      '--',
      resolve(path),
    )
    const approvals = approvalsIn(trailers)
    const [changed] = changedFiles(status)
    if (changed === undefined) return { name: sha, approvals, notice: null }
    const notice = `the approvals of commit ${sha} are ignored, because ${path} differs from it: commit or discard ${visible(changed)}`
    return { name: `${sha}${DIRTY}`, approvals: [], notice: approvals.length === 0 ? null : notice }
  } catch (error) {
    // A folder outside git is valid, and a run needs no git.
    if (!(error instanceof GitError)) throw error
    return error.message.includes('dubious ownership') ? ofAnotherUser(directory) : null
  }
}

/** Whether `directory` or a folder above it is a checkout: without one there is no need to start git. */
function isInCheckout(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true
  const above = dirname(directory)
  return above !== directory && isInCheckout(above)
}

/** The files of `status` (of `git status -z`) that may change the manifests. */
function changedFiles(status: string): readonly string[] {
  // States, logs and other untracked files are no manifests. The second name of a renamed file has no status letters.
  const isOther = (entry: string): boolean => entry.startsWith('?? ') && !isManifestFile(entry)
  return status
    .split('\0')
    .filter((entry) => entry !== '' && !isOther(entry))
    .map((entry) => entry.replace(/^(?:\S| )(?:\S| ) /, ''))
}

function ofAnotherUser(directory: string): FolderCommit {
  const notice = `the commit of ${directory} cannot be read, so it is not recorded and its approvals are ignored: the repository belongs to another user (run "git config --global --add safe.directory" with its folder)`
  return { name: null, approvals: [], notice }
}
