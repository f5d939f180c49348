import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'

/** Folders of the tests that use `durableDatabases`. */
const USERS = /\/server\/testing\/(?:postgres|manyServers)\//

/** Starts the cluster of `durableDatabases`, if a selected test uses it. */
export default async function startDurableCluster({
  vitest,
  provide,
}: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!vitest.state.getPaths().some((path) => USERS.test(path))) return undefined
  const { url, stop } = await startCluster('full')
  provide('durableCluster', url)
  return stop
}
