/**
 * Tests the tests: changes the pure rules by one operator, condition or text at a time, and runs the tests beside them.
 * Each change is a mutant; a failing test kills it.
 *
 *     npm run mutation                                  every group
 *     npm run mutation -- reconciler/plan               one group
 *     npm run mutation -- reconciler/plan/identity.ts   some files
 *
 * Exits 1 when the tests kill less than SCORE_MIN percent of the mutants of a group. The reports are in .mutation/.
 */
import { Stryker } from '@stryker-mutator/core'

/** Minimum share of a group's mutants that its tests kill (percent). */
const SCORE_MIN = 90

/** Folders of tests, and the rules that they test. In a folder that also does I/O, these are the files that plan. */
const groups = {
  'api/contract': ['api/contract/*.ts'],
  'server/domain': ['server/domain/*.ts'],
  'reconciler/plan': ['reconciler/plan/*.ts'],
  'provider/service': [
    'provider/service/compile/*.ts',
    'provider/service/schema/operators.ts',
    'provider/service/apply/{planService,sealedKeys}.ts',
    'provider/service/read/priorOrder.ts',
  ],
}

/** @param {string} folder @param {string[]} mutate */
async function run(folder, mutate) {
  const name = folder.replace('/', '-')
  console.log(`\n== ${folder}`)
  await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', dir: folder, related: false },
    mutate: [...mutate, '!**/*.test.ts'],
    // Stryker 9 rewrites the tsconfig with an API that TypeScript 7 removed, but skips a file that does not exist.
    tsconfigFile: 'scripts/mutation/none.json',
    disableTypeChecks: false,
    coverageAnalysis: 'perTest',
    concurrency: 1,
    tempDirName: `.mutation/${name}`,
    cleanTempDir: 'always',
    ignorePatterns: ['dist', 'fixtures', 'examples', 'docs', 'bench', '.mutation'],
    reporters: ['clear-text', 'json', 'html'],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: process.stdout.isTTY },
    jsonReporter: { fileName: `.mutation/${name}.json` },
    htmlReporter: { fileName: `.mutation/${name}.html` },
    thresholds: { high: 100, low: SCORE_MIN, break: SCORE_MIN },
    allowConsoleColors: process.stdout.isTTY,
    allowEmpty: false,
  }).runMutationTest()
}

const chosen = process.argv.slice(2)
for (const [folder, files] of Object.entries(groups)) {
  const within = chosen.filter((path) => path.startsWith(`${folder}/`))
  if (chosen.length === 0 || chosen.includes(folder)) await run(folder, files)
  else if (within.length > 0) await run(folder, within)
}
