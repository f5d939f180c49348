import type { Database } from 'better-sqlite3'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'

/** Results in an SQLite file. */
export function sqliteResults(database: Database): ResultsDatabase {
  return {
    // True because a statement of better-sqlite3 has these methods.
    prepare: ((sql: string) => database.prepare(sql)) as unknown as ResultsDatabase['prepare'],
    exec: (sql) => {
      database.exec(sql)
    },
    transact: (work) => database.transaction(work).immediate(),
    onSnapshot: (work) => database.transaction(work)(),
    insertNew: (table, columns, otherTable) => {
      // Binds by position: names take twice as long, and this is done for every result.
      const values =
        otherTable === undefined
          ? `VALUES (${columns.map(() => '?').join(', ')})`
          : `SELECT * FROM (SELECT ${columns.map((name) => `? AS ${name}`).join(', ')}) AS row
             WHERE NOT EXISTS (SELECT 1 FROM ${otherTable} WHERE due_s = row.due_s AND series = row.series)`
      const insert = database.prepare<number[]>(
        `INSERT INTO ${table} (${columns.join(', ')}) ${values} ON CONFLICT DO NOTHING`,
      )
      return (rows) => rows.map((row) => insert.run(...row).changes > 0)
    },
    // With a rowid: without one, rows of this size would spill to overflow pages.
    createChunkTable: (name) => {
      database.exec(`CREATE TABLE ${name} (place INTEGER PRIMARY KEY, results BLOB NOT NULL) STRICT`)
    },
    chunksAt: (table, places) => {
      const select = database.prepare<[number], { place: number; results: Buffer }>(
        `SELECT place, results FROM ${table} WHERE place = ?`,
      )
      return places.flatMap((place) => select.get(place) ?? [])
    },
    tablesWith: (prefix) =>
      database
        .prepare<[string], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?")
        .pluck()
        .all(`${prefix}*`),
    schemaVersion: () => Number(database.pragma('schema_version', { simple: true })),
    keyOf: (table) =>
      database
        .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
        .pluck()
        .all(table),
    close: () => {
      database.close()
    },
  }
}
