import type { GitCall } from './gitCall.ts'
import { GitError, runGit } from './gitProgram.ts'

/** The oldest git that takes all of its settings from its environment and knows signatures of ssh. */
const OLDEST = [2, 34] as const
const LIMIT_MS = 60_000

/**
 * Makes sure that there is a git, and one that obeys all settings: an older one would silently ignore some, such as those
 * that keep hooks and helpers from running. Throws GitError that says what to do.
 */
export async function requireGit(env: GitCall['env']): Promise<void> {
  const access = { url: '', scheme: 'file' } as const
  const said = await runGit({ access, directory: '/', args: ['version'], limitMs: LIMIT_MS, env })
  const [text, major, minor] = /(\d+)\.(\d+)\S*/.exec(said.toString('utf8')) ?? []
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])
  if (isNew) return
  throw new GitError(
    `git ${text ?? 'of an unknown version'} is too old: install ${OLDEST.join('.')} or newer`,
    0,
  )
}
