import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suiteFolder, testFolder } from '../api/testing/temporaryFolder.ts'
import { startServer, type TestServer } from '../server/testing/startServer.ts'
import { manifestOf } from './testing/manifestOf.ts'
import { finished } from './testing/processes.ts'

/**
 * In place of the programs of others, which take the command lines that theirs are documented to take: the first two
 * run a command with one more variable, the third writes the file that its configuration names.
 */
const MANAGERS = {
  sops: `[ "$1" = exec-env ] && [ -f "$2" ] && [ $# = 3 ] && exec env $(cat "$2") sh -c "$3"`,
  op: `[ "$1" = run ] && [ "$3" = -- ] && file=\${2#--env-file=} && shift 3 && exec env $(sed 's#op://.*#from-1password#' "$file") "$@"`,
  vault: `[ "$1 $3" = 'agent -exit-after-auth' ] && file=\${2#-config=} && to=$(sed -n 's/ *destination *= *"\\(.*\\)"/\\1/p' "$file") && mkdir -p "$(dirname "$to")" && echo from-vault > "$to"`,
}

const recipes = [
  ...readFileSync('docs/manifests.md', 'utf8').matchAll(
    /^<!-- run by reconciler\/secretManagers\.e2e\.test\.ts -->\n```sh\n(.*?)^```$/gms,
  ),
].map(([, script = '']) => [script.split(' ')[0] ?? '', script] as const)

let server: TestServer
const bin = suiteFolder()
beforeAll(async () => {
  server = await startServer({ rateLimit: 'none' })
  symlinkSync(join(import.meta.dirname, '../dist/pharos.js'), join(bin, 'pharos'))
  for (const [name, script] of Object.entries(MANAGERS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
})
afterAll(() => server.close())

test('the page has a recipe for each secret manager', () => {
  expect(recipes.map(([name]) => name)).toEqual(Object.keys(MANAGERS))
})

test.each(recipes)('the recipe for %s sends the secret, sealed', async (name, script) => {
  const folder = testFolder()
  mkdirSync(join(folder, 'monitoring'))
  const reference = name === 'vault' ? '{file: signature}' : '{env: PROBE_TOKEN}'
  writeFileSync(
    join(folder, 'monitoring/a.yaml'),
    manifestOf(name, `      headers: {Authorization: ${reference}}\n      assertions: []\n`),
  )
  writeFileSync(join(folder, 'probes.enc.env'), 'PROBE_TOKEN=from-sops\n')
  writeFileSync(join(folder, 'probes.env'), 'PROBE_TOKEN=op://monitoring/checkout/token\n')
  writeFileSync(
    join(folder, 'vault-agent.hcl'),
    'template {\n  contents = "x"\n  destination = "secrets/signature"\n}\n',
  )
  const PATH = `${bin}:${process.env.PATH}`
  const env = { PATH, PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }

  const run = await finished(spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env }))
  const services = await fetch(`${server.url}/v1/services`, {
    headers: { Authorization: `Bearer ${server.apiKey}` },
  }).then((response) => response.text())

  expect(run).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 created') })
  expect(services).toMatch(new RegExp(`https://${name}\\.example\\.com/.*"Authorization":\\{"Sealed"`))
  expect(`${services}${run.stdout}${run.stderr}`).not.toContain('from-')
})
