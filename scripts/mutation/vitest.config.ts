import { defineConfig } from 'vitest/config'

/**
 * Tests beside the rules that start servers. They test no rule of a plan, and a mutant should take less than a second.
 */
const WITH_SERVERS = ['createOrAdopt', 'serviceReads', 'sharedRequest', 'roundTrip']

/** The tests beside the pure rules, which need no build. */
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: WITH_SERVERS.map((name) => `**/${name}.test.ts`),
    testTimeout: 60_000,
    expect: { requireAssertions: true },
    isolate: false,
  },
})
