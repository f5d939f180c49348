import type pg from 'pg'
import { databaseFacts } from './databaseFacts.ts'
import { judgeDatabase } from './judgeDatabase.ts'

/**
 * Rejects when the database of `client` could lose acknowledged writes, is read-only, is too old, or is behind a pooler
 * that is. `other` is a second connection to it.
 */
export async function assertDurable(client: pg.Client, other: pg.Client, nowMs: () => number): Promise<void> {
  const findings = judgeDatabase(await databaseFacts(client, other, nowMs))
  const problem = findings.find(({ health }) => health === 'refused')
  if (problem !== undefined) throw new Error(`the database cannot be used: ${problem.text}`)
}
