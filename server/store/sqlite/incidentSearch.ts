import type { Database } from 'better-sqlite3'
import { foldForSearch } from '../shared/searchText.ts'
import type { IncidentFilter } from '../store.ts'

/** Maximum number of incidents read before yielding to other requests, which takes some milliseconds. */
const SLICE_INCIDENTS = 2_000
/** Minimum per service in a slice of several services: a request names at most some hundred. */
const SHARE_INCIDENTS_MIN = 20

/** A page as positions in creation order, newest first, and the total number of incidents. */
export interface FoundPage {
  readonly positions: readonly number[]
  readonly total: number
}

/** The named parameters of the statements. */
interface Parameters {
  readonly orgId: string
  readonly isResolved: number
  readonly q: string | null
  readonly severity: string | null
  /** JSON array of the services; any of them matches. */
  readonly serviceIds: string
}

/** Candidates below a position, in slices. */
interface Walk {
  /** The last position of the slice below `before`; 0 when it is the last slice. */
  readonly endOf: (parameters: Parameters, before: number) => number
  /** Matches in the slice, newest first. */
  readonly passing: (parameters: Parameters, before: number, end: number) => readonly number[]
  /** Size of a slice that is not the last. */
  readonly sliceIncidents: number
}

const IN_SECTION = "org_id = @orgId AND kind = 'incident' AND (status = 'resolved') = @isResolved"
// instr instead of LIKE: a percent sign or an underscore in the search is literal (Gap G18).
const FOUND = '(@q IS NULL OR instr(title_folded, @q) > 0 OR instr(display_id_folded, @q) > 0)'

/**
 * Prepares the search of a page. Indexes count and order sections and severities, and the incidents of one service, so
 * only the shown rows are read. A search for a text, or several services, reads slices from the newest on, and yields
 * to other requests in between. Gap G3, Gap G8.
 */
export function prepareIncidentSearch(database: Database, sliceIncidents = SLICE_INCIDENTS) {
  const walks = prepareWalks(database, sliceIncidents)
  const total = database
    .prepare<[Parameters], number>(
      `SELECT coalesce(sum(incidents), 0) FROM incident_counts
       WHERE org_id = @orgId AND is_resolved = @isResolved AND (@severity IS NULL OR severity = @severity)`,
    )
    .pluck()
  // A service never changes its organisation: one lookup shows whether its incidents belong to another organisation.
  const owner = database
    .prepare<[string], string>(
      `SELECT org_id FROM incident_services s JOIN incidents i ON i.position = s.position
       WHERE service_id = ? AND s.position IS NOT NULL LIMIT 1`,
    )
    .pluck()
  return async (
    orgId: string,
    filter: IncidentFilter,
    yieldTurn: () => Promise<void>,
  ): Promise<FoundPage> => {
    const own = [...new Set(filter.serviceIds)].filter((id) => owner.get(id) === orgId)
    if (own.length === 0 && filter.serviceIds.length > 0) return { positions: [], total: 0 }
    const parameters = parametersOf(orgId, filter, own)
    const offset = (filter.page - 1) * filter.limit
    const isCounted = filter.q === undefined && own.length === 0
    const known = isCounted ? (total.get(parameters) ?? 0) : undefined
    const place = { offset, limit: filter.limit, known }
    if (own.length > 0) return findPage(walks.services(own), parameters, place, yieldTurn)
    return findPage(
      filter.severity === undefined ? walks.section : walks.severity,
      parameters,
      place,
      yieldTurn,
    )
  }
}

function parametersOf(
  orgId: string,
  { section, q, severity }: IncidentFilter,
  serviceIds: readonly string[],
): Parameters {
  return {
    orgId,
    isResolved: section === 'resolved' ? 1 : 0,
    q: q === undefined ? null : foldForSearch(q),
    severity: severity ?? null,
    serviceIds: JSON.stringify(serviceIds),
  }
}

/** The page that begins at `offset` among the matches; all are counted unless `known` is their number. */
async function findPage(
  walk: Walk,
  parameters: Parameters,
  { offset, limit, known }: { offset: number; limit: number; known: number | undefined },
  yieldTurn: () => Promise<void>,
): Promise<FoundPage> {
  const positions: number[] = []
  if (known !== undefined && offset >= known) return { positions, total: known }
  let seen = 0
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const end = walk.endOf(parameters, before)
    // If all match, slices before the page need not be read.
    if (known !== undefined && end > 0 && seen + walk.sliceIncidents <= offset) seen += walk.sliceIncidents
    else {
      const passing = walk.passing(parameters, before, end)
      const from = Math.max(offset - seen, 0)
      positions.push(...passing.slice(from, from + limit - positions.length))
      seen += passing.length
    }
    const isFull = known !== undefined && positions.length === limit
    if (end === 0 || isFull) return { positions, total: known ?? seen }
    before = end
    await yieldTurn()
  }
}

function prepareWalks(database: Database, sliceIncidents: number) {
  return {
    section: prepareSection(database, 'incidents_by_section', IN_SECTION, sliceIncidents),
    severity: prepareSection(
      database,
      'incidents_by_severity',
      `${IN_SECTION} AND severity = @severity`,
      sliceIncidents,
    ),
    services: prepareServices(database, sliceIncidents),
  }
}

// The indexes are named: with the statistics of another organisation SQLite would choose a table scan.
function prepareSection(database: Database, index: string, candidate: string, sliceIncidents: number): Walk {
  const below = `SELECT position FROM incidents INDEXED BY ${index} WHERE ${candidate} AND position < @before`
  const end = database
    .prepare<[Parameters & { before: number }], number>(
      `${below} ORDER BY position DESC LIMIT 1 OFFSET ${sliceIncidents - 1}`,
    )
    .pluck()
  const passing = database
    .prepare<[Parameters & { before: number; end: number }], number>(
      `${below} AND position >= @end AND ${FOUND} ORDER BY position DESC`,
    )
    .pluck()
  return {
    endOf: (parameters, before) => end.get({ ...parameters, before }) ?? 0,
    passing: (parameters, before, last) => passing.all({ ...parameters, before, end: last }),
    sliceIncidents,
  }
}

/** Iterates over the incidents of several services: a slice ends where the first service has reached its share. */
function prepareServices(
  database: Database,
  sliceIncidents: number,
): (serviceIds: readonly string[]) => Walk {
  const from = 'FROM incident_services s INDEXED BY incident_services_by_section'
  const inRange = 's.is_resolved = @isResolved AND s.position < @before AND s.position IS NOT NULL'
  const end = database
    .prepare<[{ serviceId: string; isResolved: number; before: number; others: number }], number>(
      `SELECT position ${from} WHERE service_id = @serviceId AND ${inRange}
       ORDER BY position DESC LIMIT 1 OFFSET @others`,
    )
    .pluck()
  const passing = database
    .prepare<[Parameters & { before: number; end: number }], number>(
      `SELECT DISTINCT position ${from}
       WHERE service_id IN (SELECT value FROM json_each(@serviceIds)) AND ${inRange} AND s.position >= @end
         AND (@q IS NULL AND @severity IS NULL OR EXISTS (SELECT 1 FROM incidents i
           WHERE i.position = s.position AND (@severity IS NULL OR severity = @severity) AND ${FOUND}))
       ORDER BY position DESC`,
    )
    .pluck()
  return (serviceIds) => {
    const others = Math.max(Math.floor(sliceIncidents / serviceIds.length), SHARE_INCIDENTS_MIN) - 1
    return {
      endOf: ({ isResolved }, before) =>
        Math.max(...serviceIds.map((serviceId) => end.get({ serviceId, isResolved, before, others }) ?? 0)),
      passing: (parameters, before, last) => passing.all({ ...parameters, before, end: last }),
      sliceIncidents,
    }
  }
}
