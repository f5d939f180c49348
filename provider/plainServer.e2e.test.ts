import { afterAll, beforeAll, describe, vi } from 'vitest'

describe('on a server that implements the API document and nothing of ours', async () => {
  // What creates, replaces, pauses, deletes, imports, finds drift, posts incidents and recovers from killed runs, once
  // more. `npm run torture` runs all suites so. Files that are read for themselves are read anew, before and after.
  beforeAll(() => void vi.stubEnv('PHAROS_TEST_PLAIN', 'yes'))
  afterAll(() => {
    vi.unstubAllEnvs()
    // Not earlier: what programs load late has to be of the same copy.
    vi.resetModules()
  })
  vi.resetModules()
  await import('./testing/scenarios/lifecycle.e2e.test.ts')
  await import('./incident/incidentResource.e2e.test.ts')
  await import('./service/apply/createOrTakeOver.test.ts')
})
