import { createRequire } from 'node:module'
import type DatabaseConstructor from 'better-sqlite3'
import { RefMoved, type StateFiles, type StateRef } from '../state/git/gitRef.ts'
import { gitStoreOn } from '../state/git/gitStore.ts'
import type { StateStore } from '../state/model/store.ts'
import { create } from '../state/sqlite/sqliteFile.ts'
import { sqliteStoreOn } from '../state/sqlite/sqliteStore.ts'
import type { ScenarioClock } from './modelServer.ts'

/** An SQLite database that outlives the processes, and whose lock the dead give back. */
export function stateInSqlite(): () => Promise<StateStore> {
  // The package is CommonJS and its type is that of its constructor.
  const Constructor = createRequire(import.meta.url)('better-sqlite3') as typeof DatabaseConstructor
  const database = new Constructor(':memory:')
  create(database)
  return async () => sqliteStoreOn(database, async () => ({ close: () => {} }))
}

/** A remote ref, of which a process that died keeps nothing. */
export function stateInGit(clock: ScenarioClock): () => Promise<StateStore> {
  let held: StateFiles | null = null
  return async (): Promise<StateStore> => {
    let seen: StateFiles | null = null
    const ref: StateRef = {
      name: 'model',
      read: async () => {
        seen = held
        return held
      },
      write: async (files) => {
        if (held !== seen) throw new RefMoved('model')
        held = files
        seen = files
      },
      close: () => {},
    }
    return gitStoreOn(ref, () => clock.nowMs)
  }
}
