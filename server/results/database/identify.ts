import { randomUUID } from 'node:crypto'
import type { ResultsDatabase } from './resultsDatabase.ts'

/** The identity of `database`, which it gets once: sequences of its transitions say nothing about another one. */
export function identify(database: ResultsDatabase): string {
  const known = database.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck()
  database
    .prepare('INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
    .run('file id', randomUUID())
  return known.get('file id') ?? ''
}
