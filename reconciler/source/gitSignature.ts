import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileReason } from '../../api/runtime/fileReason.ts'
import type { GitCall } from '../git/gitCall.ts'
import { GitError, runGit } from '../git/gitProgram.ts'
import { takeWorkFolder } from '../state/sqlite/workFolder.ts'

/** Time limit for the verification of one signature (milliseconds). */
const LIMIT_MS = 60_000

type Repository = Pick<GitCall, 'access' | 'directory' | 'env'>

/**
 * Why commit `sha` has no valid signature of a key that `access` allows; null when it has one. The files of keys are read each
 * time, so that a removed key is no longer accepted. Throws GitError when it cannot be checked.
 */
export async function signatureProblem(repository: Repository, sha: string): Promise<string | null> {
  const { gpgKeysFile } = repository.access
  if (gpgKeysFile === undefined) return verified(repository, sha, undefined)
  // An own key ring, so that neither the user's keys nor earlier imports are accepted.
  const folder = await takeWorkFolder('gpg')
  const keyRing = folder.path
  try {
    return (
      (await importProblem(repository, keyRing, gpgKeysFile)) ?? (await verified(repository, sha, keyRing))
    )
  } finally {
    folder.remove()
  }
}

async function verified(
  { access, directory, env }: Repository,
  sha: string,
  keyRing: string | undefined,
): Promise<string | null> {
  try {
    await runGit({ access, directory, env, args: ['verify-commit', sha], limitMs: LIMIT_MS, keyRing })
    return null
  } catch (error) {
    if (!(error instanceof GitError) || error.exitCode === null) throw error
    return error.message.startsWith('git verify-commit ended') ? 'it has no signature' : error.message
  }
}

async function importProblem({ env }: Repository, keyRing: string, file: string): Promise<string | null> {
  const args = ['--homedir', keyRing, '--batch', '--quiet', '--no-autostart', '--import', '--', file]
  try {
    await promisify(execFile)('gpg', args, { env: { PATH: env.PATH, LC_ALL: 'C' }, timeout: LIMIT_MS })
    return null
  } catch (error) {
    // The code of a program that ran is a number, or null when it was killed at the time limit.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT')
      throw new GitError('gpg could not be started: install gnupg, or correct PATH', null)
    if (typeof code !== 'number') throw new GitError(`gpg could not check it: ${fileReason(error)}`, null)
    return `the file of OpenPGP keys ${file} cannot be used: use a file written by "gpg --export"`
  }
}
