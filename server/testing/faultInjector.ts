import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { databaseFile } from '../store/sqlite/files/openDatabase.ts'
import type { TestServer } from './startServer.ts'

/**
 * Ways in which a write fails: it undoes its statement, keeps the statement's earlier effects, or undoes its
 * transaction, where these differ.
 */
export const FAILURES = ['ABORT', 'FAIL', 'ROLLBACK'] as const
export type FailureKind = (typeof FAILURES)[number]

/** Text of every error, which no response may contain. */
export const INSIDE = 'a secret of the inside'

/** A write to break. */
interface Broken {
  /** The event, such as `INSERT ON services`. */
  readonly event: string
  readonly how?: FailureKind
  /** A condition on the row NEW. Default: every row. */
  readonly when?: string
}

/** Another program's connection to the database of a server, which breaks and repairs the database. */
export interface FaultInjector {
  readonly execute: (sql: string) => Promise<void>
  readonly breakWrites: (broken: Broken) => Promise<void>
  /** Lets the statements that create a service succeed, but makes their transaction fail at the commit. */
  readonly breakCommits: () => Promise<void>
  /** Undoes both kinds of breakage. */
  readonly repair: () => Promise<void>
  /** Holds the lock that writes need until `releaseWrites`. */
  readonly holdWrites: () => Promise<void>
  readonly releaseWrites: () => Promise<void>
  /** All data that a mutation could change: the rows of each table, with services as the second. */
  readonly everything: () => Promise<readonly (readonly unknown[])[]>
  readonly close: () => Promise<void>
}

/** Tables that mutations write, with services as the second, in both databases. */
const TABLES = [
  'orgs',
  'services',
  'sealed_values',
  'commands',
  'remembered_creations',
  'incidents',
  'incident_updates',
  'past_generations',
  'audit',
]

/** Opens a fault injector of the database of `server`. */
export async function faultInjectorOf(server: Pick<TestServer, 'dataDir' | 'flags'>): Promise<FaultInjector> {
  const [flag, place = ''] = server.flags
  return flag === '--database' ? await postgresInjector(place) : sqliteInjector(server.dataDir)
}

function sqliteInjector(dataDir: string): FaultInjector {
  const database = new Sqlite(databaseFile(dataDir))
  const execute = async (sql: string): Promise<void> => {
    database.exec(sql)
  }
  return {
    execute,
    breakWrites: ({ event, how = 'ABORT', when = '1' }) =>
      execute(
        `CREATE TRIGGER broken BEFORE ${event} WHEN ${when} BEGIN SELECT RAISE(${how}, '${INSIDE}'); END`,
      ),
    breakCommits: () =>
      execute(
        `CREATE TABLE trap (nobody TEXT REFERENCES orgs (id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER broken AFTER INSERT ON services BEGIN INSERT INTO trap VALUES ('nobody'); END`,
      ),
    repair: () => execute('DROP TRIGGER IF EXISTS broken; DROP TABLE IF EXISTS trap'),
    holdWrites: () => execute('BEGIN IMMEDIATE'),
    releaseWrites: () => execute('COMMIT'),
    everything: async () =>
      [...TABLES, 'incident_services'].map((table) => database.prepare(`SELECT * FROM ${table}`).all()),
    close: async () => {
      database.close()
    },
  }
}

/** SQLSTATE of each failure: an exception in a trigger, a lack of memory, and a statement timeout. */
const SQL_STATES: Readonly<Record<FailureKind, string>> = {
  ABORT: 'P0001',
  FAIL: '53200',
  ROLLBACK: '57014',
}

async function postgresInjector(url: string): Promise<FaultInjector> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const execute = async (sql: string): Promise<void> => {
    await client.query(sql)
  }
  return {
    execute,
    breakWrites: ({ event, how = 'ABORT', when = 'true' }) =>
      execute(
        `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION '${INSIDE}' USING ERRCODE = '${SQL_STATES[how]}'; END $$;
         CREATE TRIGGER broken BEFORE ${event} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION broken()`,
      ),
    breakCommits: () =>
      execute(
        `CREATE TABLE trap (nobody uuid REFERENCES orgs (id) DEFERRABLE INITIALLY DEFERRED);
         CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN INSERT INTO trap VALUES (gen_random_uuid()); RETURN NULL; END $$;
         CREATE TRIGGER broken AFTER INSERT ON services FOR EACH ROW EXECUTE FUNCTION broken()`,
      ),
    repair: () => execute('DROP FUNCTION IF EXISTS broken() CASCADE; DROP TABLE IF EXISTS trap'),
    holdWrites: () => execute('BEGIN; LOCK TABLE orgs IN EXCLUSIVE MODE'),
    releaseWrites: () => execute('COMMIT'),
    everything: async () => {
      const tables = []
      for (const table of TABLES) {
        tables.push(
          (await client.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`)).rows,
        )
      }
      return tables
    },
    close: () => client.end(),
  }
}
