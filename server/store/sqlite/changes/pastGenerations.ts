import type { Database } from 'better-sqlite3'
import { type Ending, PAST_BYTES_MAX, pastRows } from '../../shared/pastGeneration.ts'

/** Maximum number of generations that one change deletes: more than it adds, so that a backlog shrinks. */
const DELETED_AT_ONCE = 100

/** Stores the generation that a change replaces, in the caller's transaction. */
export type StorePastGeneration = (orgId: string, ending: Ending) => void

/**
 * Prepares storing past generations. The current one is only in `services`: a creation writes nothing here. Each row
 * has a running total of the bytes of its organisation, which saves summing them.
 */
export function preparePastGenerations(writer: Database, bytesMax = PAST_BYTES_MAX): StorePastGeneration {
  const newest = writer
    .prepare<[string], number | null>('SELECT max(bytes_up_to) FROM past_generations WHERE org_id = ?')
    .pluck()
  const insert = writer.prepare(
    `INSERT INTO past_generations (org_id, service_id, generation, until_ms, origin, definition, bytes_up_to)
     VALUES (@orgId, @serviceId, @generation, @untilMs, @origin, @definition, @bytesUpTo)`,
  )
  const forget = writer.prepare(
    `DELETE FROM past_generations WHERE sequence IN
       (SELECT sequence FROM past_generations WHERE org_id = ? AND bytes_up_to <= ?
        ORDER BY bytes_up_to LIMIT ${DELETED_AT_ONCE})`,
  )
  return (orgId, ending) => {
    const rows = pastRows(ending, newest.get(orgId) ?? 0)
    for (const row of rows) insert.run({ orgId, ...row })
    const bytesUpTo = rows.at(-1)?.bytesUpTo ?? 0
    if (bytesUpTo > bytesMax) forget.run(orgId, bytesUpTo - bytesMax)
  }
}
