import { defineConfig } from 'vitest/config'

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
    },
  },
})
