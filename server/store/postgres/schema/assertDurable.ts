import type pg from 'pg'
import { databaseFacts } from './databaseFacts.ts'
import { judgeDatabase } from './judgeDatabase.ts'

/** Rejects when the database of `client` could lose acknowledged writes, is read-only, or is too old. */
export async function assertDurable(client: pg.Client, nowMs: () => number): Promise<void> {
  const findings = judgeDatabase(await databaseFacts(client, client, nowMs))
  const problem = findings.find(({ health }) => health === 'refused')
  if (problem !== undefined) throw new Error(`the database cannot be used: ${problem.text}`)
}
