/**
 * The preview of a pull or merge request, for GitHub Actions and GitLab CI.
 *
 * `preview.mjs HOST` prints the Environment `preview`, whose variable `host` is the address of the preview.
 * `preview.mjs --remove FOLDER` deletes the state PHAROS_STATE and all its services: it removes the manifests from the
 * checkout, and applies the result.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const env = process.env

/** Overrides the policies that protect production, because they would keep the services of a preview. */
const environmentFor = (host) => `apiVersion: pharos/v1
kind: Environment
metadata: {name: preview}
spec:
  vars: {host: "${host}"}
  patches:
    - target: {}
      patch: {policy: {protect: false, onDelete: delete}}
`

/** Runs pharos and shows its output; returns the output if the exit code is one of `accepted`. */
function pharos(args, accepted) {
  const run = spawnSync('pharos', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (run.error !== undefined) throw run.error
  process.stdout.write(run.stdout)
  if (!accepted.includes(run.status)) process.exit(run.status ?? 1)
  return run.stdout
}

function remove(folder) {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'preview.yaml'), environmentFor('removed.invalid'))
  const common = [folder, '--env', 'preview', '--state', env.PHAROS_STATE, '--max-deletes', '100%']
  // Without manifests a safety limit blocks all deletions (4) until exactly these are approved.
  const { approval } = JSON.parse(pharos(['plan', ...common, '--json'], [0, 4]))
  pharos(['apply', ...common, ...(approval == null ? [] : ['--approve', approval])], [0])
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
} else process.stdout.write(environmentFor(first))
