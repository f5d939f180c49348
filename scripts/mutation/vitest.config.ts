import { defineConfig } from 'vitest/config'

/** Tests beside the rules that start servers: no rule of a plan is in them, and a mutant should take no second. */
const WITH_SERVERS = ['createOrTakeOver', 'serviceReads', 'sharedRequest', 'roundTrip']

/** The tests beside the pure rules, which need nothing that is built. */
export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: WITH_SERVERS.map((name) => `**/${name}.test.ts`),
    testTimeout: 60_000,
    expect: { requireAssertions: true },
    isolate: false,
  },
})
