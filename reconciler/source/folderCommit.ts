import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'
import { GitError, runGit } from './gitProgram.ts'

/** Longest run of a git that only reads the disk (milliseconds). */
const GIT_MS_MAX = 60_000
/** What follows the SHA when the folder differs from the commit, as in `git describe --dirty`. */
const DIRTY = '-dirty'

/** The commit that is checked out where manifests lie. */
export interface FolderCommit {
  /** SHA, with `-dirty` behind it when anything in the folder is not as in the commit. */
  readonly name: string
  /** Digests that the commit approves by its trailers; none when the folder differs from it. */
  readonly approvals: readonly string[]
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
    const output = await runGit({ access, directory, args, limitMs: GIT_MS_MAX, env })
    return output.toString('utf8').trim()
  }
  try {
    const sha = await said('rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
    const changed = await said('status', '--porcelain', '--untracked-files=all', '--', resolve(path))
    if (changed !== '') return { name: `${sha}${DIRTY}`, approvals: [] }
    const trailers = await said('log', '-1', '--no-show-signature', `--format=${APPROVAL_TRAILERS}`, sha)
    return { name: sha, approvals: approvalsIn(trailers) }
  } catch (error) {
    // A folder outside of git is no mistake, and a run needs no git.
    if (error instanceof GitError) return null
    throw error
  }
}
