import { existsSync } from 'node:fs'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import { openStore } from '../store/sqlite/openStore.ts'
import type { Store } from '../store/store.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'

/** Runs `work` on the store of `dataDir`, beside a running server or without one, and closes it. */
export async function withStore<Result>(
  dataDir: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** As `withStore`, for commands that only look: rejects where there is no database, instead of making one. */
export async function withExistingStore<Result>(
  dataDir: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  if (!existsSync(databaseFile(dataDir))) throw new Error(`there is no database in ${dataDir}`)
  return withStore(dataDir, work)
}
