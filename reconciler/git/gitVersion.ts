import type { GitCall } from './gitCall.ts'
import { GitError, runGit } from './gitProgram.ts'

/** The oldest git with settings in the environment and SSH signatures. */
const OLDEST = [2, 34] as const
const LIMIT_MS = 60_000

/** Values of PATH whose git is new enough: it is not asked again for every state that this process opens. */
const known = new Set<string | undefined>()

/**
 * Throws GitError unless there is a git that supports all settings: older versions would silently ignore some, such as those
 * that disable hooks and helpers.
 */
export async function requireGit(env: GitCall['env']): Promise<void> {
  if (known.has(env.PATH)) return
  const access = { url: '', scheme: 'file' } as const
  const output = await runGit({ access, directory: '/', args: ['version'], limitMs: LIMIT_MS, env })
  const [text, major, minor] = /(\d+)\.(\d+)\S*/.exec(output.toString('utf8')) ?? []
  const isNew = Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])
  if (isNew) {
    known.add(env.PATH)
    return
  }
  throw new GitError(
    `git ${text ?? 'of an unknown version'} is too old: install ${OLDEST.join('.')} or newer`,
    0,
  )
}
