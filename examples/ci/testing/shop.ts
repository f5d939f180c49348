import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../../api/client/client.ts'
import { readersEnvironment, root } from '../../../scripts/readersEnvironment.ts'
import { startServer, type TestServer } from '../../../server/testing/startServer.ts'
import { githubMachine, runGithub } from './github.ts'
import { gitlabVariables, runGitlab } from './gitlab.ts'
import { type Jobs, jobsIn, type Runner } from './job.ts'
import { type Platform, startPlatform } from './platform.ts'

/** The repository that jobs check out. */
const REPOSITORY = 'acme/shop.git'

/** The server and the repository that the jobs of a recipe work on. */
export interface Shop {
  readonly server: TestServer
  readonly client: Client
  readonly folder: string
  /** What a machine that runs jobs has, without secrets. */
  readonly machine: NodeJS.ProcessEnv
  /** The working folder of the repository, with the scripts of the recipes in `ci`. */
  readonly work: string
  /** Commits everything in the working folder and pushes it. */
  readonly push: (message: string) => void
  /** Replaces `from` in each of `files`, and pushes that. */
  readonly edit: (files: readonly string[], from: string, to: string) => void
  readonly close: () => Promise<void>
}

/** Opens a shop; `fill` lays out the first commit. */
export async function openShop(fill: (work: string, folder: string) => void): Promise<Shop> {
  const server = await startServer({ rateLimit: 'none' })
  const client = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
  const folder = mkdtempSync(join(tmpdir(), 'pharos-ci-'))
  const machine = machineIn(folder)
  const work = join(folder, 'work')
  mkdirSync(join(work, 'ci'), { recursive: true })
  for (const script of ['comment.mjs', 'preview.mjs']) {
    cpSync(join(import.meta.dirname, '..', script), join(work, 'ci', script))
  }
  const shop = { name: 'shop', version: '1.0.0' }
  writeFileSync(join(work, 'package.json'), JSON.stringify({ ...shop, private: true, type: 'module' }))
  writeFileSync(
    join(work, 'package-lock.json'),
    JSON.stringify({ ...shop, lockfileVersion: 3, requires: true, packages: { '': shop } }),
  )
  fill(work, folder)
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', work, ...args], { env: machine, stdio: 'pipe' })
  }
  const push = (message: string): void => {
    git('add', '-A')
    git('commit', '-q', '-m', message)
    git('push', '-q', 'origin', 'HEAD:main')
  }
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(folder, REPOSITORY)])
  git('init', '-q', '-b', 'main')
  git('remote', 'add', 'origin', join(folder, REPOSITORY))
  push('first')
  return {
    server,
    client,
    folder,
    machine,
    work,
    push,
    edit: (files, from, to) => {
      for (const file of files) {
        const path = join(work, file)
        writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
      }
      push(`${to} for ${from}`)
    },
    close: async () => {
      await client.close()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A `tsx` that runs each program once for the same variables, and copies what it made later: loading CDKTF takes long.
 */
const tsxOnce = (folder: string): string => `#!/bin/sh
set -e
test "$*" = main.ts
made="${folder}/made-$({ env | grep '^TF_VAR_' | sort; cat main.ts; } | cksum | tr ' ' -)"
if test -d "$made"; then
  cp -R "$made" cdktf.out
else
  "${root}/node_modules/.bin/tsx" main.ts
  cp -R cdktf.out "$made"
fi
`

/** The environment of a machine that has what `npm ci` would install: on the PATH, and above the checkouts. */
function machineIn(folder: string): NodeJS.ProcessEnv {
  const machine = readersEnvironment(folder)
  const commands = { npm: '#!/bin/sh\ntest "$*" = ci || exit 1\n', tsx: tsxOnce(folder) }
  for (const [name, text] of Object.entries(commands)) {
    writeFileSync(join(folder, '.bin', name), text, { mode: 0o755 })
  }
  return machine
}

/** A recipe on its platform, with a stand-in for what the platform's API does. */
export interface Recipe {
  readonly platform: Platform
  /** What the platform calls the event of a pull or merge request. */
  readonly pullRequest: string
  /** The event of a pipeline that a person starts again on the default branch. */
  readonly again: string
  /** The request that makes the comment, and the one that edits it. */
  readonly posted: string
  readonly edited: string
  /**
   * Runs what the platform would run for `event`, on a machine that has `extra` in its environment too. On GitHub an event
   * is `NAME ACTION AUTHOR`, with an action and the author of the pull request or without; on GitLab it is the source of
   * the pipeline, followed by ` fork` for a pipeline of a fork.
   */
  readonly run: (event: string, extra?: NodeJS.ProcessEnv) => Promise<Jobs>
  readonly exitCodesOf: (jobs: Jobs) => Readonly<Record<string, number | null>>
  /** Jobs that ran so far, and all jobs of the recipe, sorted. */
  readonly ran: () => readonly string[]
  readonly jobs: readonly string[]
}

/**
 * Opens the recipe `file`, its text changed by `change`, with `secrets` in the settings of the repository. Close its
 * platform at the end.
 */
export async function openRecipe(
  { folder, machine, server }: Shop,
  file: string,
  secrets: Readonly<Record<string, string>>,
  change: (recipe: string) => string = (text) => text,
): Promise<Recipe> {
  const isGithub = file.includes('github')
  const list = isGithub ? '/repos/acme/shop/issues/7/comments' : '/projects/3/merge_requests/7/notes'
  const one = isGithub ? '/repos/acme/shop/issues/comments' : list
  const platform = await startPlatform(list, one)
  const recipe = change(readFileSync(join(import.meta.dirname, '..', file), 'utf8'))
  const runner: Omit<Runner, 'context'> = {
    recipe,
    machine: { ...machine, ...(isGithub ? githubMachine(folder, platform.url) : {}) },
    checkout: () => {
      const place = mkdtempSync(join(folder, 'job-'))
      execFileSync('git', ['clone', '-q', join(folder, REPOSITORY), place], { env: machine })
      return place
    },
    artifacts: join(folder, 'artifacts'),
  }
  const known = { PHAROS_API_KEY: server.apiKey, ...secrets }
  const runEvent = (event: string, extra: NodeJS.ProcessEnv): Promise<Jobs> => {
    const running = { ...runner, machine: { ...runner.machine, ...extra } }
    return isGithub
      ? runGithub({ ...running, context: githubContext(event, folder, server.url, known) })
      : runGitlab({ ...running, context: gitlabContext(event, platform.url) })
  }
  const gitlabContext = (event: string, apiUrl: string) => ({
    ...known,
    ...gitlabVariables(event, apiUrl),
    PHAROS_URL: server.url,
    CI_PROJECT_URL: join(folder, 'acme/shop'),
  })
  const ran = new Set<string>()
  return {
    platform,
    pullRequest: isGithub ? 'pull_request' : 'merge_request_event',
    again: isGithub ? 'push' : 'web',
    posted: `POST ${list}`,
    edited: `${isGithub ? 'PATCH' : 'PUT'} ${one}/2`,
    run: async (event, extra = {}) => {
      const jobs = await runEvent(event, extra)
      for (const name of Object.keys(jobs)) ran.add(name)
      return jobs
    },
    exitCodesOf: (jobs) =>
      Object.fromEntries(Object.entries(jobs).map(([name, { exitCode }]) => [name, exitCode])),
    ran: () => [...ran].sort(),
    jobs: jobsIn(recipe),
  }
}

function githubContext(
  event: string,
  folder: string,
  url: string,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const [name = '', action = '', author = 'ada'] = event.split(' ')
  return {
    'github.event_name': name,
    'github.event.action': action,
    'github.event.number': '7',
    'github.ref_name': 'trunk',
    'github.event.repository.default_branch': 'trunk',
    'github.repository': 'acme/shop',
    'github.event.pull_request.head.repo.full_name': 'acme/shop',
    'github.event.pull_request.user.login': author,
    'github.token': 'platform-token',
    'github.server_url': folder,
    'vars.PHAROS_URL': url,
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`secrets.${name}`, value])),
  }
}
