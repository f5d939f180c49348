import type { ResultsDatabase } from '../database/resultsDatabase.ts'

/** The due times in the log from `fromS` to before `untilS` (seconds since the epoch), in order. */
export function* dueTimes(
  database: ResultsDatabase,
  fromS: number,
  untilS = Number.MAX_SAFE_INTEGER,
): Generator<number, void> {
  const next = database
    .prepare<[number, number], number | null>('SELECT min(due_s) FROM log WHERE due_s >= ? AND due_s < ?')
    .pluck()
  for (let dueS = next.get(fromS, untilS); dueS != null; dueS = next.get(dueS + 1, untilS)) yield dueS
}
