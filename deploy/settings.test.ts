import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../api/testing/temporaryFolder.ts'
import { runHere } from '../reconciler/testing/programHere.ts'
import { deployFiles, documentsOf, readDeployFile, valuesOf } from './testing/deployFiles.ts'

test('every variable that a file names is read by a program', () => {
  const page = readFileSync('docs/environment.md', 'utf8')
  const named = deployFiles().flatMap((file) =>
    [...readDeployFile(file).matchAll(/\bPHAROS_[A-Z_]+/g)].map(([variable]) => `${file}: ${variable}`),
  )
  // The image in compose, which is a variable of that file.
  const unknown = named.filter(
    (found) => !/IMAGE$/.test(found) && !page.includes(`\`${found.split(': ')[1]}\``),
  )

  expect(named.length).toBeGreaterThan(20)
  expect(unknown).toEqual([])
})

test('compose defines each secret, volume and service that it names', () => {
  const [compose] = documentsOf('compose.yaml') as [Compose] // True because compose accepts no other form.
  const { services, secrets, volumes } = compose
  const each = Object.values(services)
  const named = each.flatMap((service) => service.secrets ?? [])
  const mounted = each.flatMap((service) => service.volumes ?? []).map((volume) => volume.split(':')[0] ?? '')
  const needed = each.flatMap(({ depends_on: on }) => (Array.isArray(on) ? on : Object.keys(on ?? {})))
  const files = each.flatMap(({ environment }) =>
    Object.entries(environment ?? {}).flatMap(([name, value]) => (name.endsWith('_FILE') ? [value] : [])),
  )

  expect(Object.keys(secrets).filter((name) => !named.includes(name))).toEqual([])
  expect(named.filter((name) => !(name in secrets))).toEqual([])
  expect(
    mounted.filter((name) => !(name in volumes) && !existsSync(join(import.meta.dirname, name))),
  ).toEqual([])
  expect(needed.filter((name) => !(name in services))).toEqual([])
  expect(files.filter((file) => !named.includes(file.replace('/run/secrets/', '')))).toEqual([])
})

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly secrets?: readonly string[]
        readonly volumes?: readonly string[]
        readonly depends_on?: readonly string[] | object
        readonly environment?: Readonly<Record<string, string>>
      }
    >
  >
  readonly secrets: object
  readonly volumes: object
}

test('the image has the programs that its containers and the controller run', () => {
  const steps = readDeployFile('Containerfile')
  const { bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  const run = deployFiles()
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => documentsOf(file).flatMap((document) => valuesOf(document, 'args')))
    .map((args) => (Array.isArray(args) ? args[0] : args))

  expect(run.sort()).toEqual(['pharos', 'pharos-agent', 'pharos-server'])
  expect(run.filter((program) => !(program in bin))).toEqual([])
  expect(steps).toMatch(/^USER 10001:10001$/m)
  expect(steps).toContain(' git gnupg openssh-client tini ')
  // Node as process 1 reaps no processes but its own children.
  expect(steps).toMatch(/^ENTRYPOINT \["\/usr\/bin\/tini", "--"\]$/m)
  // Without an account, ssh says "No user exists for uid 10001" and reads no repository.
  expect(steps).toMatch(/^ && useradd --uid 10001 --gid 10001 /m)
})

test('the controller accepts its configuration', async () => {
  const folder = testFolder()
  const file = join(folder, 'pharos-controller.yaml')
  const settings = readDeployFile('kubernetes/controller/pharos-controller.yaml')
  writeFileSync(file, settings.replace('/var/lib/pharos', folder))
  const names = [...settings.matchAll(/\{env: (\w+)\}/g)].map(([, name = '']) => name)
  const needed = /with the keys\n((?:#.*\n)+)/.exec(
    readDeployFile('kubernetes/controller/kustomization.yaml'),
  )?.[1]

  const { exitCode, stderr } = await runHere(['controller', '--config', file, '--check'], {
    PHAROS_STATE_KEY: 'ab'.repeat(32),
    ...Object.fromEntries(names.map((name) => [name, `pharos_${'ab'.repeat(32)}`])),
  })

  expect(exitCode, stderr).toBe(0)
  expect(names.filter((name) => needed?.includes(name) !== true)).toEqual([])
})

const UNITS = deployFiles().filter((file) => file.endsWith('.service'))

test.each(UNITS)('%s says what it needs, and systemd, if installed, accepts it', (name) => {
  const unit = readDeployFile(name)
  expect(unit).toMatch(/^# A unit for systemd: [^[]*\n# {5}systemctl enable --now/)
  expect(unit).toContain('Restart=always')
  const program = '/usr/bin/systemd-analyze'
  if (!existsSync(program)) return

  const said = execFileSync(program, ['verify', '--man=no', join('deploy', name)], {
    stdio: 'pipe',
  }).toString()

  expect(said).toBe('')
})

test('there are units for the server, the agent and the controller, and a controller stopped by a signal counts as a success', () => {
  expect(UNITS.map((file) => file.split('/').at(-1))).toEqual([
    'pharos-agent.service',
    'pharos-controller.service',
    'pharos-server.service',
  ])
  // It exits with 143 after SIGTERM.
  expect(readDeployFile('systemd/pharos-controller.service')).toContain('SuccessExitStatus=143')
})
