import { defineConfig } from 'vitest/config'

/** The tests beside the pure rules, which need nothing that is built. */
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    expect: { requireAssertions: true },
    isolate: false,
  },
})
