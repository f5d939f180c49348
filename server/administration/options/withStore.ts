import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { assertExists, type Engine } from '../../store/engine.ts'
import { type SqliteEngine, sqliteEngine } from '../../store/sqlite/sqliteEngine.ts'
import type { Store } from '../../store/store.ts'
import { type DatabasePlace, engineOf } from './databaseOption.ts'

/** The engine of a data folder, for subcommands that require one. */
export function folderEngineOf(dataDir: string): SqliteEngine {
  return sqliteEngine(dataDir, systemEnvironment.nowMs)
}

/** Runs `work` on the store of `engine`, with or without a running server, and closes it. */
export async function withStore<Result>(
  engine: Engine,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await engine.open('administer')
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** As `withStore`, but rejects when there is no database instead of creating one. */
export async function withExistingStore<Result>(
  engine: Engine,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  await assertExists(engine)
  return withStore(engine, work)
}

/** Runs `work` on the store of an existing database. */
export function inDatabase<Result>(
  place: DatabasePlace,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return withExistingStore(engineOf(place), work)
}
