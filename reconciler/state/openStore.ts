import { stateExists } from './openDatabase.ts'
import { openSqliteStore, readSqliteStore } from './sqliteStore.ts'
import type { StateReading, StateStore } from './store.ts'

/** Whether there is a state at `location` yet. Throws StateError when there never can be one. */
export async function storeExists(location: string): Promise<boolean> {
  return stateExists(location)
}

/** Opens the state at `location` to write to it, making it when it is not there. Throws StateError. */
export function openStore(location: string): Promise<StateStore> {
  return openSqliteStore(location)
}

/** Opens the state at `location` to look at it. Throws StateError when there is none. */
export function readStore(location: string): Promise<StateReading> {
  return readSqliteStore(location)
}
