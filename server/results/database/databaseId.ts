import { randomUUID } from 'node:crypto'
import { readMeta } from './meta.ts'
import type { ResultsDatabase } from './resultsDatabase.ts'

/** The identity of `database`, created on first use: sequences of transitions are only comparable within it. */
export function ensureDatabaseId(database: ResultsDatabase): string {
  database
    .prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .run('file id', randomUUID())
  return readMeta(database, 'file id') ?? ''
}
