import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { EndpointInput } from '../../api/contract/service.ts'
import { readersEnvironment } from '../../scripts/readersEnvironment.ts'
import { startServer } from '../../server/testing/startServer.ts'
import { CommandScene } from '../testing/commandScene.ts'
import { manifestOf } from '../testing/manifestOf.ts'
import { finished } from '../testing/processes.ts'
import { runHere } from '../testing/programHere.ts'
import { endpointsOf, specOf } from './manifestParts.ts'

const scene = new CommandScene(startServer)
const { work } = scene

const SERVICES: Readonly<Record<string, readonly string[]>> = {
  shop: ['https://shop.example.com/', 'https://shop.example.com?health', 'http://10.0.0.1:8080/shop'],
  cart: ['https://shop.example.com/cart', 'http://10.0.0.1:8080', 'https://shop-example.com/'],
  production: ['https://shop-example.com/a', `https://münchen.example/\${var.shop_example_com}`],
  defaults: ['https://münchen.example#top', 'https://once.example.com/'],
  'environment-production': ['https://[::1]:8443/', `https://[::1]:8443/$\${var.x:-y}`],
}

const endpoint = (url: string): EndpointInput => ({
  url,
  call: {
    Http: {
      method: 'POST',
      timeout: null,
      headers: {
        Origin: { value: url, sensitive: false },
        Authorization: { value: 'canary', sensitive: true },
      },
      body: { value: `\${var.shop_example_com} ${url}`, sensitive: false },
    },
  },
  assertions: [],
})

beforeEach(async () => {
  for (const [name, urls] of Object.entries(SERVICES))
    await scene.client.createService(
      { name, interval_secs: 60, regions: ['eu-west-1'], endpoints: urls.map(endpoint) },
      `create-${name}`,
    )
})

/** Runs `pharos ARGS` in the folder of the workspace. */
const pharos = (...args: readonly string[]) => runHere(args, work.env, { cwd: work.folder })
const at = (name: string) => join(work.folder, name)
const textsIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(at(folder)).map((name) => [name, readFileSync(at(join(folder, name)), 'utf8')]),
  )

/** Exports the organisation with the Environment production, and sets the secrets that the manifests ask for. */
async function exportProduction() {
  const run = await pharos('export', '--write', at('exported'), '--env', 'production')
  for (const text of Object.values(textsIn('exported')))
    for (const [, name = ''] of text.matchAll(/env: (\w+)/g)) work.env[name] = 'canary'
  return run
}

test('an export with an Environment equals the organisation, and a plan after it is empty', async () => {
  const { exitCode, stdout } = await exportProduction()
  const state = ['--env', 'production', '--state', at('other.db')]
  const adopted = await pharos('state', 'adopt', 'apply', at('exported'), ...state, '--json')
  const plan = await pharos('plan', at('exported'), ...state, '--json')
  const applied = await pharos('apply', at('exported'), ...state, '--json')

  expect([exitCode, stdout]).toEqual([
    0,
    `wrote 5 manifests, their Defaults and the Environment production to ${at('exported')}\n`,
  ])
  expect(JSON.parse(adopted.stdout).adoptions.map(({ kind }: { kind: string }) => kind)).toEqual(
    Array(5).fill('match'),
  )
  expect(JSON.parse(plan.stdout)).toMatchObject({ exitCode: 0, changes: [], problems: [] })
  expect(JSON.parse(applied.stdout)).toMatchObject({ applied: { updated: 0, unchanged: 5 } })
})

test('an Environment with other values gives other URLs, in another organisation', async () => {
  await exportProduction()
  const own = ['--env', 'production', '--state', at('production.db')]
  await pharos('state', 'adopt', 'apply', at('exported'), ...own)
  const values: Readonly<Record<string, string>> = {
    http_10_0_0_1_8080: 'http://10.0.0.2:9090',
    https_1_8443: 'https://[::2]:8443',
    munchen_example: 'https://staging.münchen.example',
    shop_example_com: 'https://shop-staging-example.com',
    shop_example_com_2: 'https://shop.staging.example.com',
  }
  const vars = Object.entries(values).map(([name, value]) => `    ${name}: ${value}\n`)
  for (const [name, text] of Object.entries(textsIn('exported')))
    writeFileSync(at(join('exported', name)), text.replace(/^ {2}id: .*\n/m, ''))
  writeFileSync(
    at('exported/staging.yaml'),
    `apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: staging}\nspec:\n  vars:\n${vars.join('')}`,
  )
  const plan = await pharos('plan', at('exported'), ...own)
  const orgId = await scene.server.createOrg({ plan: 'business' })
  work.env.PHAROS_API_KEY = await scene.server.createKey({ orgId })

  const state = ['--state', at('staging.db')]
  const applied = await pharos('apply', at('exported'), '--env', 'staging', ...state)
  const { stdout } = await pharos('export', '--json')

  expect([plan.stdout, applied.exitCode]).toEqual([expect.stringMatching(/No changes: 5 unchanged\n$/), 0])
  expect(urlsIn(stdout)).toEqual({
    cart: [
      'https://shop.staging.example.com/cart',
      'http://10.0.0.2:9090',
      'https://shop-staging-example.com/',
    ],
    defaults: ['https://staging.münchen.example#top', 'https://once.example.com/'],
    'environment-production': [
      'https://[::2]:8443/',
      // The export escapes what looks like a variable.
      `https://[::2]:8443/$$\${var.x:-y}`,
    ],
    production: [
      'https://shop-staging-example.com/a',
      `https://staging.münchen.example/$\${var.shop_example_com}`,
    ],
    shop: [
      'https://shop.staging.example.com/',
      'https://shop.staging.example.com?health',
      'http://10.0.0.2:9090/shop',
    ],
  })
})

/** The URLs of an export as JSON, by service. */
function urlsIn(exported: string) {
  const { manifests }: { manifests: readonly { key: string; manifest: object }[] } = JSON.parse(exported)
  return Object.fromEntries(
    manifests.map(({ key, manifest }) => [key, endpointsOf(specOf(manifest)).map(({ url }) => url)]),
  )
}

test('without a folder, the Environment is on stdout, and in the document of --json', async () => {
  const text = await pharos('export', '--env', 'production')
  const { environment, manifests } = JSON.parse(
    (await pharos('export', '--env', 'production', '--json')).stdout,
  )

  expect(text.stdout).toContain(
    '---\napiVersion: pharos/v1\nkind: Environment\nmetadata:\n  name: production\n',
  )
  expect(environment).toMatchObject({ kind: 'Environment', metadata: { name: 'production' } })
  expect(JSON.stringify(manifests)).toContain(`"\${var.http_10_0_0_1_8080}/shop"`)
})

test('without --env, an export has no Environment and no variable', async () => {
  await pharos('export', '--write', at('plain'))
  const { stdout } = await pharos('export', '--json')

  expect(Object.keys(textsIn('plain')).sort()).toEqual(
    ['shared-defaults', ...Object.keys(SERVICES)].sort().map((name) => `${name}.yaml`),
  )
  expect(urlsIn(stdout)).toMatchObject({ shop: SERVICES.shop })
  expect(JSON.parse(stdout)).not.toHaveProperty('environment')
})

test('an existing Environment of the same name is not overwritten, whatever its file is called, nor are other files', async () => {
  mkdirSync(at('there/sub'), { recursive: true })
  const environment = 'apiVersion: pharos/v1\nkind: Environment\nmetadata: {name: production}\n'
  writeFileSync(at('there/sub/all.yaml'), `${manifestOf('x')}---\n${environment}`)
  writeFileSync(at('there/staging.yaml'), 'mine\n')

  const refused = await pharos('export', '--write', at('there'), '--env', 'production')
  const blocked = await pharos('export', '--write', at('there'), '--env', 'staging')

  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    `error --env production: ${at('there/sub/all.yaml')} has an Environment of that name; choose another name or folder\n`,
  ])
  expect([blocked.exitCode, blocked.stderr]).toEqual([
    1,
    `error ${at('there/staging.yaml')} exists; name another folder\n`,
  ])
  expect(readdirSync(at('there')).sort()).toEqual(['staging.yaml', 'sub'])
})

test('an invalid name of an Environment is refused', async () => {
  const { exitCode, stderr } = await pharos('export', '--env', 'Prod')

  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining('error --env Prod: must be 1 to 128 lower-case'),
  ])
})

test('the commands of docs/manifests.md adopt an organisation with an Environment', async () => {
  const [, script = ''] =
    /^<!-- run by reconciler\/export\/exportEnvironment\.e2e\.test\.ts -->\n```sh\n(.*?)^```$/ms.exec(
      readFileSync('docs/manifests.md', 'utf8'),
    ) ?? []
  await exportProduction()
  const { PATH: _, ...env } = work.env
  const reader = readersEnvironment(work.folder)

  const run = await finished(
    spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: work.folder, env: { ...reader, ...env } }),
  )

  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/No changes: 5 unchanged\n$/) })
})
