import { inject } from 'vitest'
import { type Databases, databasesAt } from './cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of the database `postgres` of the cluster that startDurableCluster.ts starts. */
    readonly durableCluster: string
  }
}

/**
 * Databases of the one cluster of this run that keeps what it acknowledged, which a server demands.
 *
 * Other files write to the cluster at the same moment, and readers of an outbox wait for all earlier transactions of a
 * cluster: it is for tests of programs, which wait too.
 */
export function durableDatabases(): Databases {
  return databasesAt(inject('durableCluster'))
}
