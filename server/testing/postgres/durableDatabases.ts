import { inject } from 'vitest'
import { type Databases, databasesAt } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the database `postgres` of the cluster that startClusters.ts starts. */
    readonly durableCluster: string
  }
}

/**
 * Databases of this run's only durable cluster, which a server demands.
 *
 * Other files write to the cluster at the same time, and readers of an outbox wait for all earlier transactions of a
 * cluster. So use it only for tests of programs, which also wait.
 */
export function durableDatabases(): Databases {
  return databasesAt(inject('durableCluster'))
}
