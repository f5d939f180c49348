import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Client } from '../../api/client/client.ts'
import { cannotRunTerraform } from '../../provider/testing/terraformWorkspace.ts'
import { readersEnvironment, root } from '../../scripts/readersEnvironment.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { githubMachine, runGithub } from './testing/github.ts'
import { gitlabVariables, runGitlab } from './testing/gitlab.ts'
import { type Jobs, jobsIn, type Runner } from './testing/job.ts'
import { type Platform, startPlatform } from './testing/platform.ts'

const SECRET = 'canary-71c0'

/** Where both kinds of configuration say how often the page is looked at. */
const INTERVAL = '2m'

const CONFIGURATION = (state: string): string => `terraform {
  backend "local" {
    path = "${state}"
  }
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

variable "probe_token" {
  type      = string
  ephemeral = true
}

resource "pharos_service" "page" {
  name     = "page"
  interval = "${INTERVAL}"
  regions  = ["eu-west-1"]
  endpoints = [{
    url  = "https://www.example.com/"
    http = { method = "GET", headers = { Authorization = { value_wo = var.probe_token } } }
  }]
}
`

const PROGRAM = (state: string): string => `import { App, LocalBackend, TerraformStack } from 'cdktf'
import { get, MonitoredService, PharosProvider, secretFromEnv } from 'pharos/cdktf'

const app = new App()
const stack = new TerraformStack(app, 'production')
new LocalBackend(stack, { path: '${state}' })
new PharosProvider(stack, 'pharos')
new MonitoredService(stack, 'page', {
  interval: '${INTERVAL}',
  regions: ['eu-west-1'],
  endpoints: get('https://www.example.com/').secretHeader('Authorization', secretFromEnv('TF_VAR_probe_token')),
})
app.synth()
`

let server: TestServer
let client: Client
let folder: string
let machine: NodeJS.ProcessEnv
beforeEach(async () => {
  server = await startServer({ rateLimit: 'none' })
  client = new Client({ url: server.url, apiKey: await server.createKey(), userAgent: 'test' })
  folder = mkdtempSync(join(tmpdir(), 'pharos-ci-'))
  // Nothing is to be fetched: what npm would have installed is on the PATH, and above the checkouts.
  machine = { ...readersEnvironment(folder), npm_config_offline: 'true' }
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/pharos'))
  for (const name of ['cdktf', 'constructs']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const work = join(folder, 'work')
  mkdirSync(join(work, 'ci'), { recursive: true })
  mkdirSync(join(work, 'monitoring'))
  cpSync(join(import.meta.dirname, 'comment.mjs'), join(work, 'ci/comment.mjs'))
  const shop = { name: 'shop', version: '1.0.0' }
  writeFileSync(join(work, 'package.json'), JSON.stringify({ ...shop, private: true, type: 'module' }))
  writeFileSync(
    join(work, 'package-lock.json'),
    JSON.stringify({ ...shop, lockfileVersion: 3, requires: true, packages: { '': shop } }),
  )
  const state = join(folder, 'terraform.tfstate')
  writeFileSync(join(work, 'monitoring/main.tf'), CONFIGURATION(state))
  writeFileSync(join(work, 'main.ts'), PROGRAM(state))
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', join(folder, 'shop.git')])
  git('init', '-q', '-b', 'main')
  git('remote', 'add', 'origin', join(folder, 'shop.git'))
  push('first')
})
afterEach(async () => {
  await client.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function git(...args: readonly string[]): void {
  execFileSync('git', ['-C', join(folder, 'work'), ...args], { env: machine, stdio: 'pipe' })
}

function push(message: string): void {
  git('add', '-A')
  git('commit', '-q', '-m', message)
  git('push', '-q', 'origin', 'HEAD:main')
}

/** Changes both kinds of configuration, and pushes that. */
function edit(from: string, to: string): void {
  for (const name of ['monitoring/main.tf', 'main.ts']) {
    const file = join(folder, 'work', name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
  }
  push(`${to} for ${from}`)
}

function recipeOf(file: string): string {
  return readFileSync(join(import.meta.dirname, file), 'utf8')
}

function runner(file: string, context: Readonly<Record<string, string>>, given: NodeJS.ProcessEnv): Runner {
  return {
    recipe: recipeOf(file),
    context,
    machine: { ...machine, ...given },
    checkout: () => {
      const place = mkdtempSync(join(folder, 'job-'))
      execFileSync('git', ['clone', '-q', join(folder, 'shop.git'), place], { env: machine })
      return place
    },
    artifacts: join(folder, 'artifacts'),
  }
}

function onGithub(file: string, event: string, platform: Platform): Promise<Jobs> {
  const context = {
    'github.event_name': event,
    'github.repository': 'acme/shop',
    'github.event.pull_request.head.repo.full_name': 'acme/shop',
    'github.token': 'platform-token',
    'vars.PHAROS_URL': server.url,
    'secrets.PHAROS_API_KEY': server.apiKey,
    'secrets.PROBE_TOKEN': SECRET,
  }
  return runGithub(runner(file, context, githubMachine(folder, platform.url)))
}

function onGitlab(file: string, source: string, platform: Platform): Promise<Jobs> {
  const context = {
    ...gitlabVariables(source, platform.url),
    PHAROS_URL: server.url,
    PHAROS_API_KEY: server.apiKey,
    TF_VAR_probe_token: SECRET,
  }
  return runGitlab(runner(file, context, {}))
}

const GITHUB = {
  run: onGithub,
  pullRequest: 'pull_request',
  list: '/repos/acme/shop/issues/7/comments',
  one: '/repos/acme/shop/issues/comments',
  edits: 'PATCH',
}
const GITLAB = {
  run: onGitlab,
  pullRequest: 'merge_request_event',
  list: '/projects/3/merge_requests/7/notes',
  one: '/projects/3/merge_requests/7/notes',
  edits: 'PUT',
}

test.skipIf(cannotRunTerraform).each([
  { file: 'terraform-github.yml', ...GITHUB },
  { file: 'terraform-gitlab.yml', ...GITLAB },
  { file: 'cdktf-github.yml', ...GITHUB },
  { file: 'cdktf-gitlab.yml', ...GITLAB },
])(
  '$file: a plan is a comment that later runs edit, the approved plan is applied, and drift fails at night',
  // Some thirty runs of terraform, one after the other.
  { timeout: 400_000 },
  async ({ file, run, pullRequest, list, one, edits }) => {
    const platform = await startPlatform(list, one)
    const ran = new Set<string>()
    const exits = (jobs: Jobs) => {
      for (const name of Object.keys(jobs)) ran.add(name)
      return Object.fromEntries(Object.entries(jobs).map(([name, { exitCode }]) => [name, exitCode]))
    }
    const opened = await run(file, pullRequest, platform)
    expect(exits(opened), JSON.stringify(opened)).toEqual({ plan: 0 })
    edit('2m', '3m')
    expect(exits(await run(file, pullRequest, platform))).toEqual({ plan: 0 })
    expect(platform.writes).toEqual([`POST ${list}`, `${edits} ${one}/2`])
    expect(platform.comments[1]?.body).toMatch(
      /interval\s+= "3m"[\s\S]*Plan: 1 to add, 0 to change, 0 to destroy\./,
    )

    const merged = await run(file, 'push', platform)
    expect(exits(merged)).toEqual({ release: 0, apply: 0 })
    const [service] = (await client.listServices()).services
    expect(service?.interval_secs).toBe(180)

    expect(exits(await run(file, 'schedule', platform))).toEqual({ drift: 0 })
    await client.deleteService(service?.id ?? '')
    const night = await run(file, 'schedule', platform)
    expect(exits(night)).toEqual({ drift: 2 })
    expect(night.drift?.output).toContain('1 to add')

    edit('eu-west-1', 'mars-1')
    const broken = await run(file, pullRequest, platform)
    expect(exits(broken)).toEqual({ plan: 1 })
    expect(platform.comments[1]?.body).toContain('mars-1')
    expect(JSON.stringify([platform.comments, opened, merged, night, broken])).not.toContain(SECRET)
    // Every job of the recipe has run.
    expect([...ran].sort()).toEqual(jobsIn(recipeOf(file)))
    await platform.close()
  },
)
