import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeBareRepository } from '../git/bareRepository.ts'

/** A real repository with a working tree, for tests. */
export interface GitRepository {
  readonly directory: string
  /** Its address for git. */
  readonly url: string
  /** Runs git in it; what it printed, without the last line break. */
  readonly git: (...args: readonly string[]) => string
  /** Writes or, with null, removes files, and commits that; the SHA. */
  readonly commit: (files: Readonly<Record<string, string | Buffer | null>>, message?: string) => string
  readonly remove: () => void
}

const ENVIRONMENT = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  // Without maintenance after each commit, and without waiting for the disk: a repository of a test is soon gone.
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.fsync',
  GIT_CONFIG_VALUE_1: 'none',
}

/** One process for three calls of git, because a process of the tests is large and takes milliseconds to start another. */
const COMMIT = 'git add --all && git commit --quiet --allow-empty --message "$0" && exec git rev-parse HEAD'

/** A fresh repository with branch `main` and no commit. */
export function gitRepository(): GitRepository {
  const directory = mkdtempSync(join(tmpdir(), 'pharos-repository-'))
  const run = (program: string, ...args: readonly string[]): string =>
    execFileSync(program, args, { cwd: directory, env: ENVIRONMENT, stdio: 'pipe' }).toString().trimEnd()
  const git = (...args: readonly string[]): string => run('git', ...args)
  makeBareRepository(join(directory, '.git'))
  // One with a working tree, by its name.
  writeFileSync(join(directory, '.git', 'config'), '')
  return {
    directory,
    url: `file://${directory}`,
    git,
    commit: (files, message = 'change') => {
      for (const [name, content] of Object.entries(files)) {
        const path = join(directory, name)
        if (content === null) rmSync(path)
        else {
          mkdirSync(dirname(path), { recursive: true })
          writeFileSync(path, content)
        }
      }
      return run('sh', '-c', COMMIT, message)
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
