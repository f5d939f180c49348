import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'
import { shareData } from './dataFolder.ts'

/** Folders of the tests that use `durableDatabases`. */
const USERS = /\/server\/testing\/(?:postgres|manyServers)\//

/**
 * Creates the data folder that all clusters copy, and starts the cluster of `durableDatabases` if a selected test uses
 * it.
 */
export default async function startClusters({ vitest, provide }: TestProject): Promise<() => Promise<void>> {
  const remove = shareData()
  if (!vitest.state.getPaths().some((path) => USERS.test(path))) return async () => remove()
  const { url, stop } = await startCluster('full')
  provide('durableCluster', url)
  return async () => {
    await stop()
    remove()
  }
}
