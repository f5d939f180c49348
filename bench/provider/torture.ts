/**
 * What the suite does to the provider in small, in large: `node --import tsx bench/provider/torture.ts`, after
 * `npm run build`. Rounds of the soak, creates and the seed may be changed by variables.
 */
import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

const {
  TORTURE_ROUNDS = '200',
  TORTURE_CREATES = '100',
  TORTURE_SEED = String(Date.now() % 1_000_000),
} = process.env

/** Runs the tests of `file` whose titles match `title`. Ends the program with their output when one fails. */
function ordeal(file: string, title: string, environment: Readonly<Record<string, string>>): void {
  const startedAtMs = performance.now()
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    file,
    '-t',
    title,
    '--reporter=verbose',
    '--coverage.enabled=false',
  ]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  })
  if (status !== 0) {
    process.stderr.write(`${stdout}${stderr}`)
    process.exit(1)
  }
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
  // The title as it ran, with its numbers: a setting that did not arrive would show.
  const ran = /✓ .*(Scenario .*?)(?: \d+ms)?$/m.exec(stripVTControlCharacters(stdout))?.[1]
  if (ran === undefined) throw new Error(`no test of ${file} is called ${title}`)
  process.stdout.write(`${ran}: held, ${seconds} s\n`)
}

ordeal('provider/failures.e2e.test.ts', 'Scenario 61', { PHAROS_TEST_INTERRUPTED: TORTURE_CREATES })
ordeal('provider/failures.e2e.test.ts', 'Scenario 62', { PHAROS_TEST_KILLED: TORTURE_CREATES })
ordeal('provider/soak.e2e.test.ts', 'Scenario 73', {
  PHAROS_TEST_SOAK_ROUNDS: TORTURE_ROUNDS,
  PHAROS_TEST_SOAK_SEED: TORTURE_SEED,
})
