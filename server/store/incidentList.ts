import type { Database } from 'better-sqlite3'
import type { Incident } from '../../api/contract/incident.ts'
import { INCIDENT_COLUMNS, type IncidentRow, prepareIncidentRead, type ReadIncident } from './incidentRows.ts'
import { openAtInstant } from './longList.ts'
import { foldForSearch } from './searchText.ts'
import type { IncidentFilter, LongList } from './store.ts'

/** The named parameters of the two queries. */
interface Parameters {
  readonly orgId: string
  readonly isResolved: number
  readonly q: string | null
  readonly severity: string | null
  readonly serviceIds: string | null
}

// instr and not LIKE: a percent sign or an underscore in the search is only itself (Gap G18).
const WHERE = `
  org_id = @orgId AND kind = 'incident' AND (status = 'resolved') = @isResolved
  AND (@q IS NULL OR instr(title_folded, @q) > 0 OR instr(display_id_folded, @q) > 0)
  AND (@severity IS NULL OR severity = @severity)
  AND (@serviceIds IS NULL OR EXISTS (
    SELECT 1 FROM incident_services s WHERE s.incident_id = incidents.id
    AND s.service_id IN (SELECT value FROM json_each(@serviceIds))))`

/** Longest page that is read whole: bytes of texts, and updates, each of which costs a row. Gap G33. */
const WHOLE_PAGE_BYTES_MAX = 512 * 1_024
const WHOLE_PAGE_UPDATES_MAX = 2_000

/** Prepares the rows of one page, newest first, with the count of all, of the same instant inside a transaction. */
function preparePage(database: Database) {
  const count = database
    .prepare<[Parameters], number>(`SELECT count(*) FROM incidents WHERE ${WHERE}`)
    .pluck()
  const page = database.prepare<[Parameters & { limit: number; offset: number }], IncidentRow>(
    `SELECT ${INCIDENT_COLUMNS} FROM incidents WHERE ${WHERE}
     ORDER BY position DESC LIMIT @limit OFFSET @offset`,
  )
  return (orgId: string, filter: IncidentFilter): { rows: readonly IncidentRow[]; total: number } => {
    const parameters: Parameters = {
      orgId,
      isResolved: filter.section === 'resolved' ? 1 : 0,
      q: filter.q === undefined ? null : foldForSearch(filter.q),
      severity: filter.severity ?? null,
      serviceIds: filter.serviceIds.length === 0 ? null : JSON.stringify(filter.serviceIds),
    }
    const total = count.get(parameters) ?? 0
    const offset = (filter.page - 1) * filter.limit
    return { rows: offset >= total ? [] : page.all({ ...parameters, limit: filter.limit, offset }), total }
  }
}

/** Prepares the question whether a page is too long to be read whole; no text is read for the answer. */
function prepareIsLong(database: Database): (rows: readonly IncidentRow[]) => boolean {
  const updatesOf = database
    .prepare<[string], number>('SELECT 1 + max(place) FROM incident_updates WHERE incident_id = ?')
    .pluck()
  const bytesOf = database
    .prepare<[string], number>('SELECT sum(octet_length(body)) FROM incident_updates WHERE incident_id = ?')
    .pluck()
  return (rows) => {
    const updates = rows.reduce((sum, { id }) => sum + (updatesOf.get(id) ?? 0), 0)
    // Counted first: their lengths are in as many rows.
    if (updates > WHOLE_PAGE_UPDATES_MAX) return true
    const bytes = rows.reduce((sum, { id, title }) => sum + title.length + (bytesOf.get(id) ?? 0), 0)
    return bytes > WHOLE_PAGE_BYTES_MAX
  }
}

/** Prepares the list of an organisation's incidents: one page, `undefined` when that is too long. Gap G3, Gap G8. */
export function prepareIncidentList(database: Database, { ofRow }: Pick<ReadIncident, 'ofRow'>) {
  const page = preparePage(database)
  const isLong = prepareIsLong(database)
  // One transaction, so that the count and the page are of the same instant.
  return database.transaction(
    (orgId: string, filter: IncidentFilter): { items: readonly Incident[]; total: number } | undefined => {
      const { rows, total } = page(orgId, filter)
      return isLong(rows) ? undefined : { items: rows.map(ofRow), total }
    },
  )
}

/** Opens the items of one page in the database `file`, as it is now, to be read an incident at a time. Gap G33. */
export function openLongPage(
  file: string,
  orgId: string,
  filter: IncidentFilter,
): Promise<LongList & { readonly total: number }> {
  return openAtInstant(file, (database) => {
    const { rows, total } = preparePage(database)(orgId, filter)
    const { ofRow } = prepareIncidentRead(database)
    function* rendered(): Generator<Uint8Array, void> {
      for (const row of rows) yield Buffer.from(JSON.stringify(ofRow(row)))
    }
    return { total, rows: rendered }
  })
}
