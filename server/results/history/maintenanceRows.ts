import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import type { ResultsDatabase } from '../database/resultsDatabase.ts'

/** Replaces the maintenance windows in `database`, in one transaction. */
export function putMaintenance(database: ResultsDatabase, windows: HistoryPolicy['maintenance']): void {
  const insert = database.prepare(
    'INSERT INTO maintenance_windows VALUES (@serviceId, @fromS, @untilS) ON CONFLICT DO NOTHING',
  )
  database.transact(() => {
    database.prepare('DELETE FROM maintenance_windows').run()
    for (const window of windows) insert.run(window)
  })
}
