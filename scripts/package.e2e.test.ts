import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { arch, platform } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { suiteFolder } from '../api/testing/temporaryFolder.ts'
import { root } from './readersEnvironment.ts'

const packed = inject('packed')
const folder = suiteFolder()
let environment: NodeJS.ProcessEnv

beforeAll(() => {
  const settings = Object.entries(process.env).filter(([name]) => !/^(?:PHAROS|TF|CDKTF|npm)_/i.test(name))
  environment = {
    ...Object.fromEntries(settings),
    npm_config_prefer_offline: 'true',
    NODE_EXTRA_CA_CERTS: inject('npmAuthorities'),
    npm_config_better_sqlite3_local_prebuilds: keepCompiled(join(folder, 'prebuilt')),
    CHECKPOINT_DISABLE: '1',
  }
})

/** Returns the folder of Node 20's better-sqlite3, which is compiled only once when no binary can be downloaded. */
function keepCompiled(prebuilt: string): string {
  mkdirSync(prebuilt)
  const compiled = join(root, 'node_modules/better-sqlite3')
  const native = 'build/Release/better_sqlite3.node'
  if (existsSync(join(compiled, native))) {
    const { version } = JSON.parse(readFileSync(join(compiled, 'package.json'), 'utf8'))
    const name = `better-sqlite3-v${version}-node-v${process.versions.modules}-${platform()}-${arch()}.tar.gz`
    execFileSync('tar', ['czf', join(prebuilt, name), '-C', compiled, native])
  }
  return prebuilt
}

interface Consumer {
  readonly place: string
  /** Output of the installation. */
  readonly output: string
  /** Names of the packages that were installed. */
  readonly packages: readonly string[]
  readonly environment: NodeJS.ProcessEnv
}

/** Installs what npm would publish, and `more`, into an empty folder. */
function install(name: string, ...more: readonly string[]): Consumer {
  const place = join(folder, name)
  mkdirSync(place)
  writeFileSync(join(place, 'package.json'), '{"name":"consumer","private":true,"type":"module"}')
  const { output } = run(['npm', 'install', packed, ...more], place, environment)
  const { packages } = JSON.parse(readFileSync(join(place, 'node_modules/.package-lock.json'), 'utf8'))
  const bin = join(place, 'node_modules/.bin')
  return {
    place,
    output,
    packages: Object.keys(packages).map((path) => path.replace(/^node_modules\//, '')),
    environment: { ...environment, PATH: [bin, process.env.PATH].join(delimiter) },
  }
}

/** Runs a command to its end; throws unless it exits with `exitCode`. */
function run(
  command: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  exitCode = 0,
): { output: string } {
  const [program = '', ...args] = command
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
  const output = `${stdout}${stderr}`
  if (status !== exitCode) throw new Error(`${command.join(' ')} exited with ${status}: ${output}`)
  return { output }
}

/** Starts the installed server; resolves to it and its address once it responds. */
async function serve({ place, environment: env }: Consumer): Promise<{ server: ChildProcess; url: string }> {
  const server = spawn('pharos-server', ['serve', '--data-dir', 'data', '--port', '0'], { cwd: place, env })
  for await (const line of server.stdout) {
    const [, url] = /^listening on (\S+)/m.exec(String(line)) ?? []
    if (url !== undefined) return { server, url }
  }
  throw new Error('the installed server ended before it listened')
}

test('the package installs without a warning about engines, and every command works', async () => {
  const consumer = install('whole')
  const { place, output, packages } = consumer

  expect(packages.length).toBeLessThanOrEqual(45)
  expect(output).not.toMatch(/EBADENGINE|deprecated|ERESOLVE/)
  for (const command of ['pharos', 'pharos-server', 'pharos-agent', 'pharos-provider']) {
    expect(run([command, '--version'], place, consumer.environment).output).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(run([command, '--help'], place, consumer.environment).output).toContain(`Usage: ${command}`)
  }
  const provider = 'node_modules/pharos/dist/terraform-provider-pharos.cjs'
  expect(run(['node', provider], place, consumer.environment, 1).output).toContain('provider for Terraform')

  const org = run(
    ['pharos-server', 'org', 'create', '--data-dir', 'data', '--name', 'Shop'],
    place,
    consumer.environment,
  )
  const key = run(
    ['pharos-server', 'key', 'create', '--data-dir', 'data', '--org', org.output.trim()],
    place,
    consumer.environment,
  )
  const { server, url } = await serve(consumer)
  try {
    const shop = { ...consumer.environment, PHAROS_URL: url, PHAROS_API_KEY: key.output.trim() }
    mkdirSync(join(place, 'monitoring'))
    copyFileSync(
      join(root, 'examples/gitops/services/newsletter.yaml'),
      join(place, 'monitoring/newsletter.yaml'),
    )
    copyFileSync(join(root, 'examples/gitops/defaults.yaml'), join(place, 'monitoring/defaults.yaml'))
    const apply = ['pharos', 'apply', 'monitoring', '--state', 'state.db']
    expect(run(apply, place, shop).output).toContain('1 created')
    expect(run(['pharos-provider', 'generate'], place, shop).output).toContain('resource "pharos_service"')
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
})

test('without optional packages a stack is synthesised and nothing is compiled, and commands say what to install', () => {
  const consumer = install('lean', '--omit=optional', 'cdktf@0.21.0', 'constructs@10.7.2')
  const { place, output, packages } = consumer
  const program = `import { App, TerraformStack } from 'cdktf'
import { get, MonitoredService, PharosProvider } from 'pharos/cdktf'
const app = new App()
const stack = new TerraformStack(app, 'shop')
new PharosProvider(stack, 'pharos')
new MonitoredService(stack, 'website', { regions: ['eu-west-1'], endpoints: get('https://www.example.com/') })
app.synth()
`
  writeFileSync(join(place, 'main.mjs'), program)

  // Archivers and the like lie inside the package of CDKTF.
  const others = packages.filter((name) => !name.startsWith('cdktf/'))
  expect(others).not.toContain('better-sqlite3')
  expect(others.length).toBeLessThanOrEqual(6)
  expect(output).not.toMatch(/EBADENGINE|better-sqlite3@/)
  run(['node', 'main.mjs'], place, consumer.environment)
  const synthesised = JSON.parse(readFileSync(join(place, 'cdktf.out/stacks/shop/cdk.tf.json'), 'utf8'))
  expect(Object.keys(synthesised.resource.pharos_service)).toEqual(['website'])

  // As in docs/cdktf.md, from where the programs are installed.
  run(['npm', 'pack', '--ignore-scripts', join(place, 'node_modules/pharos')], place, consumer.environment)
  expect(readdirSync(place)).toContain(basename(packed))

  run(['pharos-provider', 'install', '--mirror', 'mirror'], place, consumer.environment)
  expect(readdirSync(join(place, 'mirror'))).toContain('registry.terraform.io')
  run(['pharos-server', '--help'], place, consumer.environment)
  const refused = run(['pharos-server', 'org', 'list', '--data-dir', 'data'], place, consumer.environment, 1)
  expect(refused.output).toMatch(
    /better-sqlite3 is not installed: install it with "npm install better-sqlite3@1[23]"/,
  )
  expect(existsSync(join(place, 'data'))).toBe(false)
})

test('a checkout without better-sqlite3 for this Node version installs it once', () => {
  const checkout = join(folder, 'checkout')
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  const step = ['node', 'scripts/installSqlite.mjs']

  const first = run(step, checkout, environment)
  const second = run(step, checkout, environment)

  expect(first.output).toMatch(/^added \d+ packages/m)
  expect(second.output).toBe('')
  const opens =
    "const Sqlite = require('better-sqlite3'); new Sqlite(':memory:').exec('CREATE TABLE rows (text TEXT)')"
  expect(run(['node', '-e', opens], checkout, environment).output).toBe('')
})

test('npm ci without access to SQLite says what to do instead of printing a stack', () => {
  const checkout = join(folder, 'offline')
  cpSync(join(root, 'scripts'), join(checkout, 'scripts'), { recursive: true })
  mkdirSync(join(checkout, 'node_modules'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })

  const { status, stderr } = spawnSync(process.execPath, ['scripts/installSqlite.mjs'], {
    cwd: checkout,
    env: { ...environment, PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) },
    encoding: 'utf8',
  })

  expect(status).toBe(1)
  expect(stderr).toMatch(/^\nbetter-sqlite3 \S+ was not installed; npm gives the reason above\. .+\n$/)
})

test('the installation of README.md puts every command on the PATH', () => {
  const [, block = ''] =
    /<!-- run by scripts\/package\.e2e\.test\.ts -->\n```sh\n(.*?)```/s.exec(
      readFileSync('README.md', 'utf8'),
    ) ?? []
  const prefix = join(folder, 'global')
  const reader = {
    ...environment,
    npm_config_prefix: prefix,
    npm_config_pack_destination: folder,
    PATH: [join(prefix, 'bin'), process.env.PATH].join(delimiter),
  }
  // The packed file stays out of the checkout; prepare has run: its bundles are those under test.
  const script = block
    .replace('"./$(', '"$(printf %s/ "$npm_config_pack_destination")$(')
    .replace('npm pack', 'npm pack --ignore-scripts')

  run(['bash', '-euo', 'pipefail', '-c', script], root, reader)

  for (const command of ['pharos', 'pharos-server', 'pharos-agent', 'pharos-provider']) {
    expect(run([command, '--version'], folder, reader).output).toMatch(/^\d+\.\d+\.\d+\n$/)
  }
  run(['pharos-server', 'org', 'create', '--data-dir', 'data', '--name', 'Shop'], folder, reader)
})
