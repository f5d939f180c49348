import type { TestProject } from 'vitest/node'
import { startCluster } from './cluster.ts'

/** Starts the cluster of `durableDatabases`. */
export default async function startDurableCluster({ provide }: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startCluster('full')
  provide('durableCluster', url)
  return stop
}
