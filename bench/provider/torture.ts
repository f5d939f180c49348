/**
 * Long version of the suite's stress tests of the provider: `node --import tsx bench/provider/torture.ts`, after `npm
 * run build`. Variables set the rounds of the soak, the creates and the seed.
 */
import { spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'

const {
  TORTURE_ROUNDS = '200',
  TORTURE_CREATES = '100',
  TORTURE_SEED = String(Date.now() % 1_000_000),
} = process.env

interface StressTest {
  readonly files: readonly string[]
  /** Selects tests by a part of the title. Default: all. */
  readonly title?: string
  readonly environment: Readonly<Record<string, string>>
}

/** Runs tests. Ends the program with their output when one fails or none ran. */
function stressTest({ files, title, environment }: StressTest): void {
  const startedAtMs = performance.now()
  const which = title === undefined ? [] : ['-t', title]
  const fixed = ['--reporter=verbose', '--coverage.enabled=false', '--testTimeout=180000']
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...files, ...which, ...fixed]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  })
  // The titles contain the numbers of the run, so a setting without effect is noticed.
  const ran = [...stripVTControlCharacters(stdout).matchAll(/✓ .*(Scenarios? .*?)(?: \d+ms)?$/gm)]
  if (status !== 0 || ran.length === 0) {
    process.stderr.write(`${stdout}${stderr}`)
    process.exit(1)
  }
  const seconds = Math.round((performance.now() - startedAtMs) / 1_000)
  const what = ran.length === 1 ? ran[0]?.[1] : `${ran.length} scenarios ${JSON.stringify(environment)}`
  process.stdout.write(`${what}: held, ${seconds} s\n`)
}

stressTest({
  files: ['provider/failures.e2e.test.ts'],
  title: 'Scenario 61',
  environment: { PHAROS_TEST_INTERRUPTED: TORTURE_CREATES },
})
stressTest({
  files: ['provider/failures.e2e.test.ts'],
  title: 'Scenario 62',
  environment: { PHAROS_TEST_KILLED: TORTURE_CREATES },
})
stressTest({
  files: [
    'provider/testing/scenarios',
    'provider/terraform.e2e.test.ts',
    'provider/failures.e2e.test.ts',
    'provider/data',
  ],
  environment: { PHAROS_TEST_INSTALLED: '1' },
})
stressTest({
  files: ['provider/testing/scenarios/secrets.e2e.test.ts', 'provider/data'],
  environment: { PHAROS_TEST_PLAIN: '1' },
})
stressTest({
  files: ['provider/soak.e2e.test.ts'],
  environment: { PHAROS_TEST_SOAK_ROUNDS: TORTURE_ROUNDS, PHAROS_TEST_SOAK_SEED: TORTURE_SEED },
})
