import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeEach, expect, test } from 'vitest'
import { suiteFolder } from '../../api/testing/temporaryFolder.ts'
import { readersEnvironment } from '../../scripts/readersEnvironment.ts'
import { finished } from '../testing/processes.ts'
import { runHere } from '../testing/programHere.ts'

const MANIFESTS = [
  '.gitignore',
  'monitoring/defaults.yaml',
  'monitoring/environments.yaml',
  'monitoring/manifest.schema.json',
  'monitoring/services/website.yaml',
]

const root = suiteFolder()
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(root, 'repository-'))
})

function filesIn(place: string): readonly string[] {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(place, name)).isFile())
    .sort()
}

function textsIn(place: string): Readonly<Record<string, string>> {
  return Object.fromEntries(filesIn(place).map((name) => [name, readFileSync(join(place, name), 'utf8')]))
}

/** Files of the folder `place` that git does not ignore. */
function committable(place: string): readonly string[] {
  execFileSync('git', ['init', '--quiet', place])
  const listed = execFileSync('git', ['-C', place, 'ls-files', '--others', '--exclude-standard'])
  return listed.toString().trimEnd().split('\n').sort()
}

/** The document of a run of `init`. */
async function init(...args: readonly string[]): Promise<{ made: string[]; kept: string[] }> {
  const { exitCode, stdout, stderr } = await runHere(['init', folder, '--json', ...args])
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test('init writes manifests that are formatted, and validate with and without each environment', async () => {
  expect((await init()).made.sort()).toEqual(MANIFESTS)

  expect(filesIn(folder)).toEqual(MANIFESTS)
  const monitoring = join(folder, 'monitoring')
  for (const env of [[], ['--env', 'production'], ['--env', 'staging']]) {
    const { exitCode, stdout } = await runHere(['validate', monitoring, ...env])
    expect([env, exitCode, stdout]).toEqual([env, 0, expect.stringContaining('valid: 1 service')])
  }
  expect((await runHere(['fmt', monitoring, '--check'])).exitCode).toBe(0)
})

test('the first command that init prints enters a folder of any name', async () => {
  folder = join(folder, "Ada's shop $HOME `id` é")

  const { stdout } = await runHere(['init', folder])
  const [command = ''] = /^ {2}cd .*$/m.exec(stdout) ?? []

  expect(execFileSync('sh', ['-c', `${command} && pwd`], { encoding: 'utf8' })).toBe(`${folder}\n`)
})

test('that command enters a folder whose name starts like an option', () => {
  const here = { cwd: folder, encoding: 'utf8' } as const
  const stdout = execFileSync(process.execPath, [resolve('dist/pharos.js'), 'init', '--', '-x'], here)
  const [command = ''] = /^ {2}cd .*$/m.exec(stdout) ?? []

  expect(execFileSync('sh', ['-c', `${command} && pwd`], here)).toBe(`${join(folder, '-x')}\n`)
})

test('every manifest of init names an existing schema file for editors', async () => {
  await init()

  const manifests = filesIn(folder).filter((name) => name.endsWith('.yaml'))
  for (const name of manifests) {
    const text = readFileSync(join(folder, name), 'utf8')
    const schema = /^# yaml-language-server: \$schema=(.+)\n/.exec(text)?.[1] ?? ''
    expect([name, existsSync(join(folder, dirname(name), schema, '.').replace(/\/$/, ''))]).toEqual([
      name,
      true,
    ])
  }
  expect(JSON.parse(readFileSync(join(folder, 'monitoring/manifest.schema.json'), 'utf8'))).toEqual(
    JSON.parse((await runHere(['schema'])).stdout),
  )
})

test('a second init changes no file, and says that it kept them', async () => {
  await init('--ci', 'github')
  const website = join(folder, 'monitoring/services/website.yaml')
  writeFileSync(website, '# mine\n')
  const before = textsIn(folder)

  const { made, kept } = await init('--ci', 'github', '--target', 'https://other.example/')

  expect([made, kept.sort()]).toEqual([[], filesIn(folder)])
  expect(textsIn(folder)).toEqual(before)
})

test.each([
  ['github', '.github/workflows/monitoring.yml'],
  ['gitlab', '.gitlab-ci.yml'],
] as const)('init --ci %s adds the recipe of examples/ci to a repository', async (platform, place) => {
  await init()

  const { made } = await init('--ci', platform)

  expect(made.sort()).toEqual([place, 'ci/comment.mjs', 'package.json'].sort())
  const recipe = readFileSync(`examples/ci/${platform}.yml`, 'utf8')
  const withoutSecret = recipe.replace(/^ *SHOP_PROBE_TOKEN: .*\n/m, '')
  expect(readFileSync(join(folder, place), 'utf8')).toBe(withoutSecret)
})

test.each([
  [['--ci', 'jenkins'], '--ci must be one of github, gitlab, none: it is jenkins'],
  [['--target', 'example.com'], '--target must be an address such as https://example.com/, not example.com'],
])('init refuses %j, and creates nothing', async (args, problem) => {
  const { exitCode, stderr } = await runHere(['init', folder, ...args])

  expect([exitCode, stderr, filesIn(folder)]).toEqual([1, expect.stringContaining(problem), []])
})

test('init with a pipeline shows how to install pharos when no registry has it', async () => {
  const { stdout } = await runHere(['init', folder, '--ci', 'github'])
  const [, packed = ''] = /^ {2}npm install --save-dev "\.\/\$\((npm pack .+)\)"$/m.exec(stdout) ?? []

  const { name } = JSON.parse(
    execFileSync('bash', ['-c', `${packed} --dry-run --json`], { encoding: 'utf8' }),
  )[0]

  expect(name).toBe('pharos')
})

test('init says which place cannot be written', async () => {
  writeFileSync(join(folder, 'monitoring'), '')

  const { exitCode, stderr } = await runHere(['init', folder])

  expect([exitCode, stderr]).toEqual([
    1,
    `error ${join(folder, 'monitoring')} is a file, not a folder: use another path\n`,
  ])
})

test('the help lists at most 12 commands, and names all others', async () => {
  const { stdout } = await runHere(['--help'])
  const list = /\nCommands:\n(.*?)\n\n/s.exec(stdout)?.[1] ?? ''
  const listed = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name).filter((name) => name !== 'help')

  expect(listed.length).toBeLessThanOrEqual(12)
  expect(stdout).toContain('\nMore commands:\n  pharos import ')
})

/** A started `pharos-server dev`, and what it printed. */
async function startDev(): Promise<{
  readonly child: ChildProcess
  readonly document: {
    readonly url: string
    readonly apiKey: string
    readonly sample: { readonly url: string }
  }
}> {
  const child = spawn(process.execPath, ['dist/pharos-server.js', 'dev', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, TMPDIR: root },
  })
  for await (const line of createInterface(child.stdout)) return { child, document: JSON.parse(line) }
  throw new Error('pharos-server dev did not start')
}

test('the first service of README passes validate and test, is applied to a dev server, and git ignores its state', {
  timeout: 120_000,
}, async () => {
  const { child, document } = await startDev()
  try {
    const block = /<!-- run by reconciler\/init\/init\.e2e\.test\.ts -->\n```sh\n(.*?)```/s
    const script = (block.exec(readFileSync('README.md', 'utf8'))?.[1] ?? '')
      .replace('https://example.com/', `${document.sample.url}/`)
      .replace('pharos test monitoring', 'pharos test monitoring --allow-ranges 127.0.0.0/8')

    const run = await finished(
      spawn('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env: { ...readersEnvironment(folder), PHAROS_URL: document.url, PHAROS_API_KEY: document.apiKey },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    const services = await fetch(`${document.url}/v1/services`, {
      headers: { authorization: `Bearer ${document.apiKey}` },
    })

    expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining('error')])
    const found = ((await services.json()) as { name: string }[]).map(({ name }) => name).sort()
    expect(found).toEqual(['Sample', 'Website'])
    expect(committable(join(folder, 'shop'))).toEqual(MANIFESTS)
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
})
