import type { Database } from 'better-sqlite3'
import type { Incident } from '../../../api/contract/incident.ts'
import { WHOLE_PAGE_BYTES_MAX, WHOLE_PAGE_UPDATES_MAX } from '../shared/incidentRow.ts'
import type { IncidentStore, LongList } from '../store.ts'
import { INCIDENT_COLUMNS, type IncidentRow, prepareIncidentRead } from './incidentRows.ts'
import { prepareIncidentSearch } from './incidentSearch.ts'
import { openAtInstant } from './longList.ts'

/** Prepares reading rows by position in creation order. */
function prepareRows(database: Database): (positions: readonly number[]) => readonly IncidentRow[] {
  const select = database.prepare<[number], IncidentRow>(
    `SELECT ${INCIDENT_COLUMNS} FROM incidents WHERE position = ?`,
  )
  return (positions) => positions.flatMap((position) => select.get(position) ?? [])
}

/** Prepares the check whether a page is too long for memory; it reads no texts. */
function prepareIsLong(database: Database): (rows: readonly IncidentRow[]) => boolean {
  const updatesOf = database
    .prepare<[string], number>('SELECT 1 + max(place) FROM incident_updates WHERE incident_id = ?')
    .pluck()
  const bytesOf = database
    .prepare<[string], number>('SELECT sum(octet_length(body)) FROM incident_updates WHERE incident_id = ?')
    .pluck()
  return (rows) => {
    const updates = rows.reduce((sum, { id }) => sum + (updatesOf.get(id) ?? 0), 0)
    // Counted first: summing their lengths reads as many rows.
    if (updates > WHOLE_PAGE_UPDATES_MAX) return true
    const bytes = rows.reduce((sum, { id, title }) => sum + title.length + (bytesOf.get(id) ?? 0), 0)
    return bytes > WHOLE_PAGE_BYTES_MAX
  }
}

/** Prepares the list of an organisation's incidents: one page. Gap G3, Gap G8. */
export function prepareIncidentList(
  database: Database,
  ofRow: (row: IncidentRow) => Incident,
): IncidentStore['listIncidents'] {
  const find = prepareIncidentSearch(database)
  const rowsAt = prepareRows(database)
  const isLong = prepareIsLong(database)
  return async (orgId, filter, yieldTurn) => {
    const { positions, total } = await find(orgId, filter, yieldTurn)
    const rows = rowsAt(positions)
    if (isLong(rows)) return { total, openItems: () => openLongPage(database.name, positions) }
    return { total, items: rows.map(ofRow) }
  }
}

/** Opens the incidents at `positions` in a snapshot of the database `file`, read one at a time. Gap G33. */
function openLongPage(file: string, positions: readonly number[]): Promise<LongList> {
  return openAtInstant(file, (database) => {
    const rows = prepareRows(database)(positions)
    const { ofRow } = prepareIncidentRead(database)
    function* rendered(): Generator<Uint8Array, void> {
      for (const row of rows) yield Buffer.from(JSON.stringify(ofRow(row)))
    }
    return { rows: rendered }
  })
}
