import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { readersEnvironment } from '../../scripts/readersEnvironment.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'

interface Comment {
  readonly id: number
  body: string
}

/** What of a platform's API the jobs use: the comments of one pull or merge request. */
interface Platform {
  readonly url: string
  readonly comments: Comment[]
  /** `METHOD /path` of every request that changed something. */
  readonly writes: string[]
  readonly close: () => Promise<void>
}

async function startPlatform(list: string, one: string): Promise<Platform> {
  const comments: Comment[] = [{ id: 1, body: 'looks good' }]
  const writes: string[] = []
  const server: Server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const isKnown =
        headers.authorization === 'Bearer platform-token' || headers['private-token'] === 'platform-token'
      const path = url.split('?')[0] ?? ''
      const answer = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      if (method !== 'GET') writes.push(`${method} ${path}`)
      const edited = comments.find(({ id }) => path === `${one}/${id}`)
      if (!isKnown) answer(401, {})
      else if (method === 'GET' && path === list) answer(200, comments)
      else if (method === 'POST' && path === list) {
        comments.push({ id: comments.length + 1, body: JSON.parse(text).body })
        answer(201, {})
      } else if (edited !== undefined) {
        edited.body = JSON.parse(text).body
        answer(200, {})
      } else answer(404, {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    comments,
    writes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

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

interface StepRun {
  readonly exitCode: number | null
  readonly output: string
}

function bash(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<StepRun> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-eo', 'pipefail', '-c', script], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('close', (exitCode) => resolve({ exitCode, output }))
  })
}

/** A fresh checkout of the newest commit, as a job gets it. */
function checkout(): string {
  const place = mkdtempSync(join(folder, 'job-'))
  execFileSync('git', ['clone', '-q', join(folder, 'acme/shop.git'), place], { env: machine })
  return place
}

type Jobs = Readonly<Record<string, StepRun>>

const SECRETS = {
  PHAROS_STATE_KEY: 'ab'.repeat(32),
  SHOP_PROBE_TOKEN: 'canary-5ab1',
  PHAROS_GIT_TOKEN: 'unused',
}

/** Runs what GitHub would run for `event`: every job whose condition holds, step by step until one fails. */
async function runGithub(event: string, platform: Platform): Promise<Jobs> {
  const workflow = load(readFileSync(join(import.meta.dirname, 'github.yml'), 'utf8')) as Workflow // True because GitHub takes no other.
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
  const eventFile = join(folder, 'event.json')
  writeFileSync(eventFile, JSON.stringify({ pull_request: { number: 7 } }))
  const given = {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: platform.url,
    GITHUB_REPOSITORY: 'acme/shop',
    GITHUB_EVENT_PATH: eventFile,
  }
  const jobs: Record<string, StepRun> = {}
  for (const [name, job] of Object.entries(workflow.jobs)) {
    if (!job.if.split(' && ').every((condition) => holds(condition, (term) => termIn(term, context))))
      continue
    const place = checkout()
    let last: StepRun = { exitCode: 0, output: '' }
    for (const step of job.steps) {
      if (step.uses !== undefined) {
        expect(['actions/checkout@v4', 'actions/setup-node@v4']).toContain(step.uses)
        continue
      }
      const outputs = join(folder, 'outputs')
      const paths = join(folder, 'paths')
      appendFileSync(outputs, '')
      const env = filledIn({ ...workflow.env, ...step.env }, context)
      const run = await bash(step.run ?? '', place, {
        ...machine,
        ...given,
        ...env,
        GITHUB_OUTPUT: outputs,
        GITHUB_PATH: paths,
      })
      last = { exitCode: run.exitCode, output: `${last.output}${run.output}` }
      for (const [, key = '', value = ''] of readFileSync(outputs, 'utf8').matchAll(/^(\w+)=(.*)$/gm)) {
        context[`steps.${step.id}.outputs.${key}`] = value
      }
      rmSync(outputs)
      if (run.exitCode !== 0) break
    }
    jobs[name] = last
  }
  return jobs
}

interface Workflow {
  readonly env: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, GithubJob>>
}

interface GithubJob {
  readonly if: string
  readonly steps: readonly {
    readonly id?: string
    readonly uses?: string
    readonly run?: string
    readonly env?: Readonly<Record<string, string>>
  }[]
}

function termIn(term: string, context: Readonly<Record<string, string>>): string {
  const text = /^'(.*)'$/.exec(term)?.[1]
  const value = text ?? context[term]
  if (value === undefined) throw new Error(`nothing is known of ${term}`)
  return value
}

function holds(condition: string, value: (term: string) => string): boolean {
  const [left = '', right = ''] = condition.split(' == ')
  return value(left) === value(right)
}

function filledIn(
  env: Readonly<Record<string, string>>,
  context: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, term: string) => termIn(term, context)),
    ]),
  )
}

/** Runs what GitLab would run for a pipeline of that source: every job whose rule holds, its lines in one shell. */
async function runGitlab(source: string, platform: Platform): Promise<Jobs> {
  const pipeline = load(readFileSync(join(import.meta.dirname, 'gitlab.yml'), 'utf8')) as Pipeline // True because GitLab takes no other.
  const given: Record<string, string> = {
    ...SECRETS,
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
    GITLAB_TOKEN: 'platform-token',
    CI_PIPELINE_SOURCE: source,
    CI_COMMIT_BRANCH: 'main',
    CI_DEFAULT_BRANCH: 'main',
    CI_PROJECT_URL: join(folder, 'acme/shop'),
    CI_API_V4_URL: platform.url,
    CI_PROJECT_ID: '3',
    CI_MERGE_REQUEST_IID: '7',
  }
  const variable = (term: string): string =>
    term.replace(/^"(.*)"$/, '$1').replace(/^\$(\w+)$/, (_, name: string) => given[name] ?? '')
  const expanded = Object.entries(pipeline.variables).map(([name, value]) => [
    name,
    value.replaceAll(/\$(\w+)/g, (_, known: string) => given[known] ?? ''),
  ])
  const jobs: Record<string, StepRun> = {}
  for (const [name, job] of Object.entries(pipeline)) {
    if (!('script' in job)) continue
    const rules = job.rules as readonly { readonly if: string }[]
    if (!rules.some((rule) => rule.if.split(' && ').every((condition) => holds(condition, variable))))
      continue
    const lines = [...pipeline.default.before_script, ...(job.script as readonly string[])]
    jobs[name] = await bash(lines.join('\n'), checkout(), {
      ...machine,
      ...given,
      ...Object.fromEntries(expanded),
    })
  }
  return jobs
}

/** Names of the jobs of a recipe. */
function jobsIn(file: string): readonly string[] {
  const recipe = load(readFileSync(join(import.meta.dirname, file), 'utf8')) as { jobs?: object } // True because both are mappings.
  const jobs = Object.entries(recipe.jobs ?? recipe).filter(([, job]) => 'steps' in job || 'script' in job)
  return jobs.map(([name]) => name).sort()
}

interface Pipeline {
  readonly [job: string]: Readonly<Record<string, unknown>>
  readonly variables: Readonly<Record<string, string>>
  readonly default: { readonly before_script: readonly string[] }
}

test.each([
  {
    platform: 'GitHub',
    file: 'github.yml',
    pullRequest: 'pull_request',
    run: runGithub,
    list: '/repos/acme/shop/issues/7/comments',
    one: '/repos/acme/shop/issues/comments',
    edits: 'PATCH',
  },
  {
    platform: 'GitLab',
    file: 'gitlab.yml',
    pullRequest: 'merge_request_event',
    run: runGitlab,
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
    expect([...ran].sort()).toEqual(jobsIn(file))
    await platform.close()
  },
)
