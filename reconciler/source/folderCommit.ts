import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { visible } from '../../api/contract/visibleText.ts'
import { GitError, runGit } from '../git/gitProgram.ts'
import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'

/** Longest run of a git that only reads the disk (milliseconds). */
const GIT_MS_MAX = 60_000
/** What follows the SHA when the folder differs from the commit, as in `git describe --dirty`. */
const DIRTY = '-dirty'

/** The commit that is checked out where manifests lie. */
export interface FolderCommit {
  /** SHA, with `-dirty` behind it when the folder differs from the commit; null when git does not say it. */
  readonly name: string | null
  /** Digests that the commit approves by its trailers; none when the folder differs from it. */
  readonly approvals: readonly string[]
  /** Why approvals of the commit do not count, for people; null when they do, or there are none. */
  readonly notice: string | null
}

/**
 * The commit that is checked out where `path` lies. Null where there is no repository, no commit yet, or no git that can
 * be used.
 */
export async function folderCommit(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FolderCommit | null> {
  const isFolder = existsSync(path) && statSync(path).isDirectory()
  const directory = isFolder ? resolve(path) : dirname(resolve(path))
  if (!existsSync(directory)) return null
  const said = async (...args: readonly string[]): Promise<string> => {
    const access = { url: directory, scheme: 'file' } as const
    const call = { access, directory, args, limitMs: GIT_MS_MAX, env, usersSettings: true }
    return (await runGit(call)).toString('utf8').trimEnd()
  }
  try {
    const sha = await said('rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
    const status = await said('status', '--porcelain', '-z', '--untracked-files=all', '--', resolve(path))
    const trailers = await said('log', '-1', '--no-show-signature', `--format=${APPROVAL_TRAILERS}`, sha)
    const approvals = approvalsIn(trailers)
    const [changed] = changedFiles(status)
    if (changed === undefined) return { name: sha, approvals, notice: null }
    const notice = `the approvals of commit ${sha} do not count, because ${path} differs from it: commit or discard ${visible(changed)}`
    return { name: `${sha}${DIRTY}`, approvals: [], notice: approvals.length === 0 ? null : notice }
  } catch (error) {
    // A folder outside of git is no mistake, and a run needs no git.
    if (!(error instanceof GitError)) throw error
    return error.message.includes('dubious ownership') ? ofAnotherUser(directory) : null
  }
}

/** The files of `status` (of `git status -z`) in which the manifests may differ from the commit. */
function changedFiles(status: string): readonly string[] {
  // A state, a plan or a log in the folder is no part of the manifests. The second name of a renamed file has no marks.
  const isOther = (entry: string): boolean => entry.startsWith('?? ') && !/\.ya?ml$/.test(entry)
  return status
    .split('\0')
    .filter((entry) => entry !== '' && !isOther(entry))
    .map((entry) => entry.replace(/^(?:\S| )(?:\S| ) /, ''))
}

function ofAnotherUser(directory: string): FolderCommit {
  const notice = `the commit of ${directory} is not read, so that none is recorded and its approvals do not count: the repository belongs to another user (run "git config --global --add safe.directory" with its folder, as git itself asks for)`
  return { name: null, approvals: [], notice }
}
