import { gitLocationOf, isGitLocation, refExists, type StateAccess } from './git/gitRef.ts'
import { openGitStore } from './git/gitStore.ts'
import type { StateReading, StateStore } from './model/store.ts'
import { stateExists } from './sqlite/openDatabase.ts'
import { openSqliteStore, readSqliteStore } from './sqlite/sqliteStore.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether there is a state at `location` yet: the path of an SQLite file, or `git:ADDRESS#REF`. `env` tells git
 * how to reach its repository. Throws StateError when there never can be one.
 */
export async function storeExists(location: string, env: Environment): Promise<boolean> {
  return isGitLocation(location) ? refExists(gitLocationOf(location, env)) : stateExists(location)
}

/** Settings of a state besides its location. */
export interface StoreOptions {
  /** In place of the store's own (milliseconds). */
  readonly leaseTtlMs?: number | undefined
  /** For a state in git: how to reach it, in place of what the environment says. */
  readonly access?: StateAccess | undefined
}

/** Opens the state at `location` to write to it, making it when it is not there. Throws StateError. */
export async function openStore(
  location: string,
  env: Environment,
  { leaseTtlMs, access }: StoreOptions = {},
): Promise<StateStore> {
  const store = isGitLocation(location)
    ? await openGitStore(gitLocationOf(location, env, access))
    : await openSqliteStore(location)
  // Into the store itself: a copy of one that is a class would lose its methods.
  return leaseTtlMs === undefined ? store : Object.assign(store, { leaseTtlMs })
}

/** Opens the state at `location` to look at it. Throws StateError when there is none. */
export async function readStore(location: string, env: Environment): Promise<StateReading> {
  return isGitLocation(location) ? openGitStore(gitLocationOf(location, env)) : readSqliteStore(location)
}
