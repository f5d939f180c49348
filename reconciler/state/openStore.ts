import { existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
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

/**
 * Throws StateError for a `location` that no retry can make usable: its form is invalid, the folder of its repository
 * does not exist, or it is a folder instead of a file.
 */
export function requireStateLocation(location: string, env: Environment, access?: StateAccess): void {
  if (!isInGit(location)) {
    if (existsSync(location) && statSync(location).isDirectory())
      throw new StateError(`${location} is a folder: name a file for the state`)
    return
  }
  const { url, scheme } = gitLocationOf(location, env, access).access
  if (scheme !== 'file' || existsSync(fileURLToPath(url))) return
  throw new StateError(
    `there is no folder ${fileURLToPath(url)}: create the repository of the state there, or correct its address`,
  )
}

/** Settings of a state besides its location. */
export interface StoreOptions {
  /** Overrides the default of the store (milliseconds). */
  readonly leaseTtlMs?: number | undefined
  /** Access to a state in git, which overrides the environment. */
  readonly access?: StateAccess | undefined
  /** Ends all calls of git for a state in git when aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Opens the state at `location` for writing, and creates a missing one. Throws StateError. */
export async function openStore(
  location: string,
  env: Environment,
  { leaseTtlMs, access, signal }: StoreOptions = {},
): Promise<StateStore> {
  const store = isInGit(location)
    ? await openGitStore({ ...gitLocationOf(location, env, access), signal })
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
  if (!/^[A-Za-z][\w+.-]+:\/|#refs\//.test(location)) return false
  throw new StateError(
    `the state ${withoutLogin(location)} is neither the path of a file nor in git: for git use ${GIT_LOCATION_FORM}`,
  )
}
