import { withoutLogin } from '../git/gitUrl.ts'
import { GIT_LOCATION_FORM, gitLocationOf, isGitLocation, refExists, type StateAccess } from './git/gitRef.ts'
import { openGitStore } from './git/gitStore.ts'
import { StateError } from './model/stateError.ts'
import type { StateReading, StateStore } from './model/store.ts'
import { stateExists } from './sqlite/openDatabase.ts'
import { openSqliteStore, readSqliteStore } from './sqlite/sqliteStore.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether there is a state at `location`: the path of an SQLite file, or `git:ADDRESS#REF`, reached with `env`. Throws
 * StateError when the location is invalid.
 */
export async function storeExists(location: string, env: Environment): Promise<boolean> {
  return isInGit(location) ? refExists(gitLocationOf(location, env)) : stateExists(location)
}

/** Settings of a state besides its location. */
export interface StoreOptions {
  /** Overrides the default of the store (milliseconds). */
  readonly leaseTtlMs?: number | undefined
  /** Access to a state in git, which overrides the environment. */
  readonly access?: StateAccess | undefined
}

/** Opens the state at `location` for writing, and creates a missing one. Throws StateError. */
export async function openStore(
  location: string,
  env: Environment,
  { leaseTtlMs, access }: StoreOptions = {},
): Promise<StateStore> {
  const store = isInGit(location)
    ? await openGitStore(gitLocationOf(location, env, access))
    : await openSqliteStore(location)
  // Assigned to the store itself: a copy of a class instance would lose its methods.
  return leaseTtlMs === undefined ? store : Object.assign(store, { leaseTtlMs })
}

/** Opens the state at `location` for reading. Throws StateError when there is none. */
export async function readStore(location: string, env: Environment): Promise<StateReading> {
  return isInGit(location) ? openGitStore(gitLocationOf(location, env)) : readSqliteStore(location)
}

/** Whether `location` is in git. Throws StateError for an address that is not written as one in git. */
function isInGit(location: string): boolean {
  if (isGitLocation(location)) return true
  if (!/^[\w+.-]+:\/\/|#refs\//.test(location)) return false
  throw new StateError(
    `--state ${withoutLogin(location)} is neither the path of a file nor in git: for git use ${GIT_LOCATION_FORM}`,
  )
}
