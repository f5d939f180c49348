import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { testFolder } from '../../api/testing/temporaryFolder.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { startServer } from '../../server/testing/startServer.ts'
import { findTerraform, openTerraformDirectory } from '../protocol/testing/terraformCli.ts'
import { cliConfiguration, requiredProviders } from './instructions.ts'
import { installIntoMirror, PROVIDER_ADDRESS, platformName, REGISTRY_HOSTS } from './mirror.ts'
import { SCRIPT_PLATFORMS } from './registryPackage.ts'

const { version } = packageJson
const ownPlatform = platformName(process.platform, process.arch) ?? ''

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function packaged(...args: readonly string[]): Promise<Ended> {
  return packagedWith({}, ...args)
}

function packagedWith(environment: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const command = ['dist/pharos-provider.js', 'package', ...args]
    const env = { ...process.env, ...environment }
    execFile(process.execPath, command, { env }, (error, stdout, stderr) =>
      resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** A mirror with the zip of `release` for this platform, as Terraform's packed layout has it. */
function packedMirror(release: string, mirror: string): string {
  const name = readdirSync(release).find((file) => file.endsWith(`_${ownPlatform}.zip`)) ?? ''
  for (const host of REGISTRY_HOSTS) {
    const place = join(mirror, host, PROVIDER_ADDRESS)
    mkdirSync(place, { recursive: true })
    copyFileSync(join(release, name), join(place, name))
  }
  return cliConfiguration(mirror)
}

const SERVICE = `resource "pharos_service" "a" {
  name      = "a"
  interval  = "60s"
  regions   = ["eu-west-1"]
  endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
}
`

test('a release has a zip for each platform, the manifest and valid checksums, and is reproducible', async () => {
  const release = join(testFolder(), 'release')
  const names = [
    ...SCRIPT_PLATFORMS.map((platform) => `terraform-provider-pharos_${version}_${platform}.zip`),
    `terraform-provider-pharos_${version}_manifest.json`,
  ]

  const first = await packaged('--out', release, '--json')
  const sums = join(release, `terraform-provider-pharos_${version}_SHA256SUMS`)
  const listed = readFileSync(sums, 'utf8')
  const again = await packaged('--out', release, '--json')

  expect(first).toMatchObject({ exitCode: 0, stderr: '' })
  expect(again.stdout).toBe(first.stdout)
  expect(listed).toBe(names.map((name) => `${sha256(join(release, name))}  ${name}\n`).join(''))
  expect(JSON.parse(readFileSync(join(release, names.at(-1) ?? ''), 'utf8'))).toEqual({
    version: 1,
    metadata: { protocol_versions: ['6.0'] },
  })
})

test('the checksums are signed with a GnuPG key, and the reference is laid out as registries expect it', async () => {
  const keys = testFolder()
  const release = join(testFolder(), 'release')
  const gpg = (...args: readonly string[]) =>
    execFileSync('gpg', ['--batch', ...args], { env: { ...process.env, GNUPGHOME: keys }, stdio: 'pipe' })
  chmodSync(keys, 0o700)
  gpg('--passphrase', '', '--quick-generate-key', 'release@example.org', 'ed25519', 'sign', 'never')
  onTestFinished(() => {
    execFileSync('gpgconf', ['--kill', 'all'], { env: { ...process.env, GNUPGHOME: keys } })
  })
  const sign = (key: string) => packagedWith({ GNUPGHOME: keys }, '--out', release, '--sign', key)

  const signed = await sign('release@example.org')
  const sums = join(release, `terraform-provider-pharos_${version}_SHA256SUMS`)
  const verified = spawnSync('gpg', ['--batch', '--verify', `${sums}.sig`, sums], {
    ...{ env: { ...process.env, GNUPGHOME: keys }, encoding: 'utf8' },
  })
  const unknown = await sign('nobody@example.org')

  expect(signed).toMatchObject({ exitCode: 0, stderr: '' })
  expect(verified.stderr).toContain('Good signature from "release@example.org"')
  expect(unknown.exitCode).toBe(1)
  expect(unknown.stderr).toContain('gpg cannot sign with the key nobody@example.org')
  expect(readFileSync(join(release, 'docs/index.md'), 'utf8')).toContain('page_title: "pharos Provider"')
  expect(readdirSync(join(release, 'docs/resources')).sort()).toEqual(['incident.md', 'service.md'])
})

test('a platform without a start script is refused with a list of those that have one', async () => {
  const { exitCode, stdout, stderr } = await packaged('--out', testFolder(), '--platform', 'windows_amd64')

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toBe(
    `pharos-provider: unknown platform windows_amd64: use one of ${SCRIPT_PLATFORMS.join(', ')}\n`,
  )
})

describe.skipIf(findTerraform() === undefined)('terraform', () => {
  test('installs the zip of a development version, and its lock file is valid for the unpacked program too', async () => {
    const release = testFolder()
    const { stdout } = await packaged('--out', release, '--platform', ownPlatform, '--dev', '--json')
    const { version: dev } = JSON.parse(stdout)
    const server = await startServer({ rateLimit: 'none' })
    const environment = { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
    let mirror = ''
    const terraform = openTerraformDirectory({
      environment,
      install: (path) => {
        mirror = path
        return packedMirror(release, path)
      },
    })
    onTestFinished(async () => {
      terraform.remove()
      await server.close()
    })
    terraform.configure(requiredProviders(dev) + SERVICE)

    const init = await terraform.run('init')
    const plan = await terraform.run('plan')
    const lock = readFileSync(join(terraform.path, '.terraform.lock.hcl'), 'utf8')
    rmSync(mirror, { recursive: true })
    rmSync(join(terraform.path, '.terraform'), { recursive: true })
    const executable = join(process.cwd(), 'dist/terraform-provider-pharos.cjs')
    installIntoMirror({ executable, mirror, version: dev, platform: ownPlatform })
    const unpacked = await terraform.run('init', '-lockfile=readonly')

    expect(dev).toMatch(new RegExp(`^${version}-dev\\.h[0-9a-f]{12}$`))
    expect({ exitCode: init.exitCode, stderr: init.stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(plan.stdout).toContain('1 to add')
    expect(lock).toMatch(/version\s+= "/)
    expect(lock).toMatch(/"h1:/)
    expect({ exitCode: unpacked.exitCode, stderr: unpacked.stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  // Executables of other systems have another form (standalone.ts), and the command says so there.
  test.runIf(process.platform === 'linux')(
    'applies with the standalone program on a machine without Node',
    async () => {
      const release = testFolder()
      const bin = testFolder()
      const path = (process.env.PATH ?? '').split(delimiter)
      const program = findTerraform() ?? ''
      symlinkSync(path.map((entry) => join(entry, program)).find(existsSync) ?? '', join(bin, program))
      const made = await packaged('--out', release, '--platform', ownPlatform, '--standalone')
      const server = await startServer({ rateLimit: 'none' })
      const terraform = openTerraformDirectory({
        environment: { PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey, PATH: bin },
        install: (mirror) => packedMirror(release, mirror),
      })
      onTestFinished(async () => {
        terraform.remove()
        await server.close()
      })
      terraform.configure(requiredProviders(version) + SERVICE)

      const init = await terraform.run('init')
      const apply = await terraform.run('apply', '-auto-approve')

      expect({ exitCode: init.exitCode, stderr: init.stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect({ exitCode: apply.exitCode, stderr: apply.stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(apply.stdout).toContain('1 added')
      expect(made.stdout).toContain(`${ownPlatform} needs no Node: built, and started on this machine`)
    },
  )

  test.runIf(process.platform === 'linux')(
    'makes a program for another platform with the Node of that platform, says that it was not started, and refuses a wrong Node',
    async () => {
      const release = testFolder()
      const other = ownPlatform === 'linux_amd64' ? 'linux_arm64' : 'linux_amd64'
      const [foreign, old, text] = ['foreign', 'old', 'text'].map((name) => join(release, name))
      const own = readFileSync(process.execPath)
      const fuse = /NODE_SEA_FUSE_\w+:0/.exec(own.toString('latin1'))?.[0] ?? ''
      // Only the parts that are read: the headers, of another machine, the fuse and the version. It would not start
      // here.
      const node = Buffer.concat([own.subarray(0, 4_096), Buffer.from(`${fuse}\0${process.version}\0`)])
      node.writeUInt16LE(other === 'linux_arm64' ? 183 : 62, 18)
      writeFileSync(foreign ?? '', node)
      node.write('v0', node.indexOf(`${process.version}\0`))
      writeFileSync(old ?? '', node)
      writeFileSync(text ?? '', 'no program')
      const build = (...args: readonly string[]): Promise<Ended> =>
        packaged('--out', release, '--platform', other, '--standalone-node', ...args)

      const made = await build(`${other}=${foreign}`, '--json')
      const wrong = await build(`${ownPlatform}=${foreign}`)
      const older = await build(`${other}=${old}`)
      const none = await build(`${other}=${text}`)

      const platforms = readFileSync(
        join(release, `terraform-provider-pharos_${version}_platforms.json`),
        'utf8',
      )
      expect(JSON.parse(made.stdout).standalone).toEqual([{ platform: other, wasRun: false }])
      expect(JSON.parse(platforms)).toEqual({
        [other]: { program: 'standalone', node: process.version, was_run: false },
      })
      expect([wrong, older, none].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1])
      expect(wrong.stderr).toContain(`is for ${other}, and cannot become a program for ${ownPlatform}`)
      expect(older.stderr).toContain(`is not Node ${process.version}`)
      expect(none.stderr).toContain('not an executable of Linux, macOS or Windows on amd64 or arm64')
    },
  )
})
