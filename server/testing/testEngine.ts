import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monotonicMs } from '../process/systemEnvironment.ts'
import type { Engine } from '../store/engine.ts'
import { postgresEngine } from '../store/postgres/postgresEngine.ts'
import { sqliteEngine } from '../store/sqlite/sqliteEngine.ts'
import { prepareFirstStart } from './firstStart.ts'
import { sharedCluster } from './postgres/cluster.ts'

/** The databases on which a test server can run. */
export const TEST_ENGINES = ['sqlite', 'postgres'] as const
export type TestEngineName = (typeof TEST_ENGINES)[number]

/** The database that the variable PHAROS_TEST_ENGINE names; SQLite when it is not set. */
export function testEngineName(): TestEngineName {
  const given = process.env.PHAROS_TEST_ENGINE ?? 'sqlite'
  const name = TEST_ENGINES.find((each) => each === given)
  if (name === undefined) throw new Error(`PHAROS_TEST_ENGINE: expected ${TEST_ENGINES.join(' or ')}`)
  return name
}

/** The database of a test server. */
export interface TestEngine {
  readonly engine: Engine
  /** The flags with which a subcommand finds the database. */
  readonly flags: readonly string[]
  /** The data folder, as in the settings of the program. */
  readonly dataDir: string | null
  /** Removes data outside the folder of the server. */
  readonly remove: () => Promise<void>
}

/** Dependencies of the database of a test server. */
interface TestEngineParts {
  readonly nowMs: () => number
  /** Clock of the shared limit. Default: that of the database. */
  readonly bucketsMs?: (() => number) | undefined
}

/** SQLite in `folder`. `isNew` means that this is the first server there. */
export function sqliteForTest(folder: string, isNew: boolean, { nowMs }: TestEngineParts): TestEngine {
  if (isNew) prepareFirstStart(folder)
  return {
    engine: sqliteEngine(folder, nowMs),
    flags: ['--data-dir', folder],
    dataDir: folder,
    remove: async () => {},
  }
}

/** A PostgreSQL database. A file in `folder` names it, so that the next server of the folder uses the same one. */
export async function postgresForTest(
  folder: string,
  { nowMs, bucketsMs }: TestEngineParts,
): Promise<TestEngine> {
  const cluster = await sharedCluster()
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'database-url')
  if (!existsSync(file)) writeFileSync(file, await cluster.createMigrated())
  const url = readFileSync(file, 'utf8')
  const clocks = { nowMs, monotonicMs: bucketsMs ?? monotonicMs, ...(bucketsMs && { bucketsMs }) }
  return {
    // Tests need no durability, so they do not wait for the disk.
    engine: postgresEngine(url, { ...clocks, assertUsable: async () => {} }),
    flags: ['--database', url],
    dataDir: null,
    remove: () => cluster.drop(url),
  }
}
