import { createHash } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { runSummary } from './scripts/testing/runSummary.ts'
import { hasPostgres } from './server/testing/postgres/programs.ts'

/** What the temporary files of all tests take at most, roughly (bytes). */
const FILES_BYTES_MAX = 1024 ** 3

// Tests start real programs that read settings from the environment: the developer's must not reach them.
for (const name of Object.keys(process.env)) {
  if (/^(?:PHAROS_(?!TEST_)|TF_|GIT_|CDKTF_)|^(?:https?|all|no)_proxy$/i.test(name)) delete process.env[name]
}
// SQLite and git flush files that tests delete soon: in memory, that takes an eighth less CPU time.
const MEMORY = '/dev/shm'
if (process.env.TMPDIR === undefined && hasSpace(MEMORY)) process.env.TMPDIR = MEMORY
// Most tests name hosts on the internet that must not be contacted: servers check only where a test asks for it.
process.env.PHAROS_MONITOR = 'off'
// The provider remembers creations there from run to run.
process.env.XDG_STATE_HOME = join(tmpdir(), 'pharos-tests', 'state')
// The compile cache of V8.
process.env.XDG_CACHE_HOME = join(tmpdir(), 'pharos-tests', 'cache')

/** Number of other files between two of the longest. */
const BETWEEN = 8

/** Files that take fifteen seconds or more on a busy machine, longest first. The end of a run lists the slowest. */
const LONGEST = [
  'server/testing/manyServers/monitoring.e2e.test.ts',
  'server/results/history/history.test.ts',
  'server/store/postgres/connections/outages.test.ts',
  'server/testing/postgres/moveResults.test.ts',
  'server/testing/manyServers/faults.test.ts',
  'server/agents/links.test.ts',
  'server/testing/postgres/serve.e2e.test.ts',
  'server/statusPages/statusPages.e2e.test.ts',
  'reconciler/controller/replicas.e2e.test.ts',
  'server/agents/agents.e2e.test.ts',
  'provider/waits.test.ts',
  'reconciler/scenarios.e2e.test.ts',
  'provider/testing/scenarios/limits.e2e.test.ts',
  'server/agents/monitoring.e2e.test.ts',
  'provider/testing/scenarios/guard.e2e.test.ts',
  'server/testing/robustness/monitoredServer.test.ts',
  'server/agents/agentTrouble.e2e.test.ts',
  'provider/testing/scenarios/secrets.e2e.test.ts',
  'server/notifications/notifications.test.ts',
  'server/console/console.browser.test.ts',
  'server/agents/monitoring.test.ts',
  'server/agents/failures.test.ts',
  'server/administration/dev/dev.e2e.test.ts',
  'server/console/payloads.browser.test.ts',
  'reconciler/operating.e2e.test.ts',
  'monitoring/agent/resultQueue.test.ts',
  'provider/failures.e2e.test.ts',
  'server/testing/robustness/monitoringKills.e2e.test.ts',
]

/**
 * Files that start git hundreds of times. The time of a start grows with the memory of the process that starts it, and
 * workers grow with each file: late in a run, one file spent 17 s of CPU time on starts that take 2 s alone.
 */
const STARTING_MANY = /\/reconciler\/(?:(?:source|state|controller)\/|gitState\.)/

/**
 * Files in an order that follows from the seed: first those that start many processes, the longest between those with
 * whole programs, and the short ones fill the end evenly. The longest mostly wait: all at once would leave the cores
 * idle. A worker ends before a file of another project, and the next one imports everything anew: the files of a project
 * are together.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      LONGEST.findIndex((file) => moduleId.endsWith(`/${file}`))
    const place = ({ moduleId }: TestSpecification): string => {
      const order = createHash('sha256').update(`${this.ctx.config.sequence.seed} ${moduleId}`).digest('hex')
      const group = STARTING_MANY.test(moduleId) ? 1 : /\.(?:e2e|browser)\.test/.test(moduleId) ? 2 : 3
      return `${group} ${order}`
    }
    const sorted = (some: TestSpecification[]): TestSpecification[] => {
      const longest = some.filter((file) => rank(file) !== -1).toSorted((a, b) => rank(a) - rank(b))
      const rest = some.filter((file) => rank(file) === -1).toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
      const mixed = longest.flatMap((file, index) => [
        file,
        ...rest.slice(BETWEEN * index, BETWEEN * (index + 1)),
      ])
      return [...mixed, ...rest.slice(BETWEEN * longest.length)]
    }
    const isOnPostgres = ({ project }: TestSpecification): boolean =>
      project.name === POSTGRES_PROJECT.test.name
    return [...sorted(files.filter(isOnPostgres)), ...sorted(files.filter((file) => !isOnPostgres(file)))]
  }
}

/** Whether the temporary files of all tests fit into the file system `folder`, which is in memory. */
function hasSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return Math.min(bavail * bsize, freemem()) > 4 * FILES_BYTES_MAX
  } catch {
    // Not every platform has one.
    return false
  }
}

const EXCLUDED = ['**/node_modules/**', '**/dist/**', '**/cdktf.out/**']
/** Tests of PostgreSQL itself. */
const OF_POSTGRES = ['server/store/postgres/**/*.test.ts', 'server/testing/{postgres,manyServers}/*.test.ts']

/**
 * What users install, copy and type: the package, the commands of documents and help texts, the examples, the files to
 * deploy, and the API document in other tools. `npm test` leaves them out, because they install, start and wait for whole programs; CI runs them after it.
 */
const DELIVERY = [
  'scripts/{documents,package.e2e}.test.ts',
  'provider/distribution/package.e2e.test.ts',
  'reconciler/help.e2e.test.ts',
  'server/http/openapi/openApiTools.e2e.test.ts',
  'examples/**/*.test.ts',
  'deploy/**/*.e2e.test.ts',
]

/** The contract on PostgreSQL too, where this platform has one. */
const POSTGRES_PROJECT = {
  extends: true as const,
  test: {
    name: 'postgres',
    include: [
      ...OF_POSTGRES,
      'server/testing/conformance/*.test.ts',
      'server/testing/robustness/clock.test.ts',
      'server/administration/{account,statusPage}Commands.test.ts',
      'server/console/incidents/incidents.test.ts',
      'server/results/{ingest,agentWatch}.test.ts',
      'server/results/{history/history,measurements/measurements}.test.ts',
    ],
    // Backups are of data folders, and the transport of requests does not depend on the database.
    exclude: [...EXCLUDED, 'server/testing/conformance/{restore*,auditCommands,transport,checklist}.test.ts'],
    env: { PHAROS_TEST_ENGINE: 'postgres' },
    globalSetup: ['server/testing/postgres/startClusters.ts'],
  },
}

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['{api,monitoring,server,provider,reconciler,web,scripts,deploy}/**/*.test.ts'],
          exclude: [...EXCLUDED, ...OF_POSTGRES, ...DELIVERY],
        },
      },
      { extends: true, test: { name: 'delivery', include: DELIVERY, exclude: EXCLUDED } },
      ...(hasPostgres() ? [POSTGRES_PROJECT] : []),
    ],
    globalSetup: ['scripts/testing/buildBeforeTests.ts'],
    env: {
      // Every Node would read these authorities at its start, which doubles its time. Tests trust those that they make.
      NODE_EXTRA_CA_CERTS: '',
      // Terraform is a short program: with fewer garbage collections, each of its commands computes a quarter less.
      GOGC: '400',
    },
    // A test without an assertion fails.
    // The default time of a poll, one second, is too short on a busy machine.
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
    sequence: { shuffle: { tests: true }, sequencer: LongestFirst },
    // No file changes what another one imports, and importing everything anew for each took a tenth of the time.
    isolate: false,
    // Transformed modules stay in node_modules from run to run, by their content: a third of the time of a small file.
    experimental: { fsModuleCache: true },
    // Many tests wait for programs that they started: with a file for each of two cores one would often be idle.
    maxWorkers: 6,
    // In CI, one lost race on a busy machine does not fail the run: the test runs again, and the end of the run lists it.
    retry: process.env.CI === undefined ? 0 : 1,
    reporters: ['default', runSummary],
    // A hang has to end the run; no test measures time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['{api,monitoring,server,provider,reconciler,web}/**/*.ts'],
      exclude: ['**/*.test.ts', 'provider/cdktf/**', '**/testing/**'],
      reporter: ['text-summary', 'json-summary'],
      // Code in other processes and threads is not measured. Two points below the coverage of the whole suite.
      thresholds: { statements: 90, branches: 84, functions: 91, lines: 91 },
    },
  },
})
