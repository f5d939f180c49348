import { defineConfig } from 'vitest/config'

// Tests start real programs that read settings from the environment: those of whoever runs the tests stay outside.
for (const name of Object.keys(process.env)) {
  if (/^(?:PHAROS_(?!TEST_)|TF_|GIT_|CDKTF_)/.test(name)) delete process.env[name]
}

export default defineConfig({
  test: {
    include: ['{api,server,provider,reconciler,examples,scripts}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/cdktf.out/**'],
    globalSetup: ['scripts/buildBeforeTests.ts'],
    sequence: { shuffle: true },
    // Many tests wait for programs that they started: one file at a time would leave a core idle.
    maxWorkers: 2,
    // A hang has to end the run; no test measures time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['{api,server,provider,reconciler}/**/*.ts'],
      exclude: ['**/*.test.ts', 'provider/cdktf/**', '**/testing/**'],
      reporter: ['text-summary', 'json-summary'],
      // What runs in a process of its own, as the programs do, does not count; the rest may not fall below this.
      thresholds: { statements: 78, branches: 74, functions: 79, lines: 80 },
    },
  },
})
