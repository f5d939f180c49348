import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GitError, runGit } from './gitProgram.ts'

/** Longest run of a git that only reads the disk (milliseconds). */
const GIT_MS_MAX = 60_000
/** What follows the SHA when the folder differs from the commit, as in `git describe --dirty`. */
const DIRTY = '-dirty'

/**
 * The commit that is checked out where `path` lies: its SHA, with `-dirty` behind it when anything at `path` is not as
 * in that commit. Null where there is no repository, no commit yet, or no git that can be used.
 */
export async function folderCommit(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
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
    return changed === '' ? sha : `${sha}${DIRTY}`
  } catch (error) {
    // A folder outside of git is no mistake, and a run needs no git.
    if (error instanceof GitError) return null
    throw error
  }
}
