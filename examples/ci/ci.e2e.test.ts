import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { readersEnvironment } from '../../scripts/readersEnvironment.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { githubMachine, runGithub } from './testing/github.ts'
import { gitlabVariables, runGitlab } from './testing/gitlab.ts'
import { type Jobs, jobsIn, type Runner } from './testing/job.ts'
import { type Platform, startPlatform } from './testing/platform.ts'

let server: TestServer
let client: Client
let folder: string
/** What somebody has who runs a job, without secrets. */
let machine: NodeJS.ProcessEnv
beforeEach(async () => {
  server = await startServer({ rateLimit: 'none' })
  client = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
  folder = mkdtempSync(join(tmpdir(), 'pharos-ci-'))
  // Nothing is to be fetched: Pharos itself is on the PATH, where npm would have put it.
  machine = { ...readersEnvironment(folder), npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  const work = join(folder, 'work')
  cpSync(join(import.meta.dirname, '../gitops'), join(work, 'monitoring'), { recursive: true })
  mkdirSync(join(work, 'ci'))
  cpSync(join(import.meta.dirname, 'comment.mjs'), join(work, 'ci/comment.mjs'))
  writeFileSync(join(work, 'package.json'), '{"name":"shop","version":"1.0.0","private":true}')
  const lock = {
    name: 'shop',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: { '': { name: 'shop', version: '1.0.0' } },
  }
  writeFileSync(join(work, 'package-lock.json'), JSON.stringify(lock))
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(folder, 'acme/shop.git')])
  git('init', '-q', '-b', 'main')
  git('remote', 'add', 'origin', join(folder, 'acme/shop.git'))
  commit('first')
})
afterEach(async () => {
  await client.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function git(...args: readonly string[]): void {
  execFileSync('git', ['-C', join(folder, 'work'), ...args], { env: machine, stdio: 'pipe' })
}

/** Commits what is in the working folder and pushes it, as people do. */
function commit(message: string): void {
  git('add', '-A')
  git('commit', '-q', '-m', message)
  git('push', '-q', 'origin', 'HEAD:main')
}

function edit(from: string, to: string): void {
  const file = join(folder, 'work/monitoring/services/catalogue.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
}

/** A fresh checkout of the newest commit, as a job gets it. */
function checkout(): string {
  const place = mkdtempSync(join(folder, 'job-'))
  execFileSync('git', ['clone', '-q', join(folder, 'acme/shop.git'), place], { env: machine })
  return place
}

const SECRETS = {
  PHAROS_STATE_KEY: 'ab'.repeat(32),
  SHOP_PROBE_TOKEN: 'canary-5ab1',
  PHAROS_GIT_TOKEN: 'unused',
}

function runner(recipe: string, context: Readonly<Record<string, string>>, given: NodeJS.ProcessEnv): Runner {
  return {
    recipe: readFileSync(join(import.meta.dirname, recipe), 'utf8'),
    context,
    machine: { ...machine, ...given },
    checkout,
    artifacts: join(folder, 'artifacts'),
  }
}

/** Runs what GitHub would run for `event`. */
function onGithub(event: string, platform: Platform): Promise<Jobs> {
  const context: Record<string, string> = {
    'github.event_name': event,
    'github.repository': 'acme/shop',
    'github.event.pull_request.head.repo.full_name': 'acme/shop',
    'github.token': 'platform-token',
    'vars.PHAROS_URL': server.url,
    'github.server_url': folder,
    'secrets.PHAROS_API_KEY': server.apiKey,
    'secrets.PHAROS_STATE_KEY': SECRETS.PHAROS_STATE_KEY,
    'secrets.SHOP_PROBE_TOKEN': SECRETS.SHOP_PROBE_TOKEN,
  }
  return runGithub(runner('github.yml', context, githubMachine(folder, platform.url)))
}

/** Runs what GitLab would run for a pipeline of that source. */
function onGitlab(source: string, platform: Platform): Promise<Jobs> {
  const context: Record<string, string> = {
    ...SECRETS,
    ...gitlabVariables(source, platform.url),
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
    CI_PROJECT_URL: join(folder, 'acme/shop'),
  }
  return runGitlab(runner('gitlab.yml', context, {}))
}

test.each([
  {
    platform: 'GitHub',
    file: 'github.yml',
    pullRequest: 'pull_request',
    run: onGithub,
    list: '/repos/acme/shop/issues/7/comments',
    one: '/repos/acme/shop/issues/comments',
    edits: 'PATCH',
  },
  {
    platform: 'GitLab',
    file: 'gitlab.yml',
    pullRequest: 'merge_request_event',
    run: onGitlab,
    list: '/projects/3/merge_requests/7/notes',
    one: '/projects/3/merge_requests/7/notes',
    edits: 'PUT',
  },
])(
  'Scenario 52: on $platform a plan is a comment that later runs edit, a merge applies it, and drift fails at night',
  // Some thirty processes, one after the other.
  { timeout: 240_000 },
  async ({ file, pullRequest, run, list, one, edits }) => {
    const platform = await startPlatform(list, one)
    const ran = new Set<string>()
    const exits = (jobs: Jobs) => {
      for (const name of Object.keys(jobs)) ran.add(name)
      return Object.fromEntries(Object.entries(jobs).map(([name, { exitCode }]) => [name, exitCode]))
    }

    const first = await run('push', platform)
    expect(first.apply?.output).toContain('Applied: 4 created')
    expect(exits(first)).toEqual({ apply: 0 })
    expect((await client.listServices()).services).toHaveLength(4)

    edit('interval: 30s', 'interval: 45s')
    commit('slower')
    expect(exits(await run(pullRequest, platform))).toEqual({ validate: 0, plan: 0 })
    edit('interval: 45s', 'interval: 50s')
    commit('slower still')
    expect(exits(await run(pullRequest, platform))).toEqual({ validate: 0, plan: 0 })
    expect(platform.writes).toEqual([`POST ${list}`, `${edits} ${one}/2`])
    const [, plan] = platform.comments
    expect(plan?.body).toContain('### Plan: 1 to update, 3 unchanged')
    expect(plan?.body).toContain('interval: 30s → 50s')

    edit('interval: 50s', 'intervall: 50s')
    commit('misspelt')
    const broken = await run(pullRequest, platform)
    expect(exits(broken)).toEqual({ validate: 7, plan: 1 })
    expect(platform.comments[1]?.body).toContain('did you mean interval?')
    edit('intervall: 50s', 'interval: 50s')
    commit('right')

    expect(exits(await run('push', platform))).toEqual({ apply: 0 })
    expect(exits(await run('schedule', platform))).toEqual({ drift: 0 })
    const { services } = await client.listServices()
    await client.pauseService(services.find(({ name }) => name === 'Newsletter')?.id ?? '')
    const [drifted] = services.filter(({ name }) => name === 'Website')
    await client.deleteService(drifted?.id ?? '')
    const night = await run('schedule', platform)
    expect(exits(night)).toEqual({ drift: 2 })
    expect(night.drift?.output).toContain('was deleted')
    expect(JSON.stringify([platform.comments, broken, night])).not.toContain(SECRETS.SHOP_PROBE_TOKEN)
    // Every job of the recipe has run.
    expect([...ran].sort()).toEqual(jobsIn(readFileSync(join(import.meta.dirname, file), 'utf8')))
    await platform.close()
  },
)
