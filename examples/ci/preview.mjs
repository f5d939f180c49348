/**
 * The preview of a pull or merge request, for GitHub Actions and GitLab CI.
 *
 * `preview.mjs HOST FOLDER` adds the Environment `preview` to the manifests of the folder. Its variable `host` is the
 * address of the preview, which becomes part of the name of each service: other previews have the same services.
 * `preview.mjs --remove FOLDER` deletes the state PHAROS_STATE and all its services: it removes the manifests from the
 * checkout, and applies the result.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const env = process.env

/** Overrides the policies that protect production, because they would keep the services of a preview. */
const UNPROTECTED = { target: {}, patch: { policy: { protect: false, onDelete: 'delete' } } }

/** Limits of an Environment: its patches, and the bytes of its file. */
const PATCHES_MAX = 10_000
const BYTES_MAX = 1024 * 1024

/** JSON is YAML too. Not indented, because the size of the file is limited. */
function writeEnvironment(folder, host, patches) {
  const spec = { vars: { host }, patches }
  const environment = { apiVersion: 'pharos/v1', kind: 'Environment', metadata: { name: 'preview' }, spec }
  const text = `${JSON.stringify(environment)}\n`
  if (patches.length > PATCHES_MAX || Buffer.byteLength(text) > BYTES_MAX) {
    process.stderr.write(
      `the preview would have ${patches.length - 1} services, each with a patch of its name: an Environment has at most ${PATCHES_MAX - 1} such patches in 1 MiB; preview a folder with fewer services\n`,
    )
    process.exit(1)
  }
  writeFileSync(join(folder, 'preview.yaml'), text)
}

/** Runs pharos; returns its output if the exit code is one of `accepted`. */
function pharos(args, accepted) {
  const run = spawnSync('pharos', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 256 * 1024 * 1024,
  })
  if (run.error !== undefined) throw run.error
  if (!accepted.includes(run.status)) {
    process.stdout.write(run.stdout)
    process.exit(run.status ?? 1)
  }
  return run.stdout
}

function prepare(folder, host) {
  writeEnvironment(folder, host, [UNPROTECTED])
  const { manifests } = JSON.parse(pharos(['render', folder, '--env', 'preview', '--json'], [0]))
  const renames = manifests.map(({ metadata, spec }) => ({
    target: { name: metadata.name },
    patch: { spec: { name: `${spec.name ?? metadata.name} (${host})` } },
  }))
  writeEnvironment(folder, host, [UNPROTECTED, ...renames])
}

function remove(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeEnvironment(folder, 'removed.invalid', [])
  const common = [folder, '--env', 'preview', '--state', env.PHAROS_STATE, '--max-deletes', '100%']
  // Without manifests a safety limit blocks all deletions (4) until exactly these are approved.
  const { approval } = JSON.parse(pharos(['plan', ...common, '--json'], [0, 4]))
  const approved = approval == null ? [] : ['--approve', approval]
  // The lock of a cancelled job expires in this time.
  process.stdout.write(pharos(['apply', ...common, ...approved, '--lock-timeout', '5m'], [0]))
}

/** Deletes the ref that contains the state, if it exists. */
function removeState() {
  const [, address, ref] = /^git:(.*)#(.*)$/.exec(env.PHAROS_STATE)
  // Outside the checkout: git would also send the checkout's own credentials.
  const cwd = mkdtempSync(join(tmpdir(), 'preview-'))
  const login = `${env.PHAROS_GIT_USERNAME ?? 'x-access-token'}:${env.PHAROS_GIT_TOKEN}`
  const git = (...args) =>
    execFileSync('git', args, {
      cwd,
      encoding: 'utf8',
      // Not an argument, because other users of the machine can read arguments.
      env: {
        ...env,
        ...(env.PHAROS_GIT_CA_FILE === undefined ? {} : { GIT_SSL_CAINFO: env.PHAROS_GIT_CA_FILE }),
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'http.extraHeader',
        GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(login).toString('base64')}`,
      },
    })
  git('init', '--quiet', '--bare')
  if (git('ls-remote', address, ref) !== '') git('push', '--quiet', address, '--delete', ref)
  rmSync(cwd, { recursive: true })
}

const [first, folder] = process.argv.slice(2)
if (first === '--remove') {
  remove(folder)
  removeState()
} else prepare(folder, first)
