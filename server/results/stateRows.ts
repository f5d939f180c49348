import { OUTCOMES } from '../../monitoring/protocol/outcomes.ts'
import { type ResultsDatabase, upsertSql } from './database/resultsDatabase.ts'
import { STATE_CODES, type StoredState, stateName } from './file/resultsSchema.ts'

/** A row of `service_now`. */
export interface ServiceRow {
  readonly id: string
  readonly orgId: string
  readonly generation: number
  readonly state: StoredState
  readonly sinceS: number
}

/** A row of `endpoints`. */
export interface EndpointRow {
  readonly number: number
  readonly id: string
  readonly serviceId: string
  readonly orgId: string
  readonly state: StoredState
  readonly sinceS: number
}

/**
 * A row of `series_states`. `changedAtS` is when its generation was received; `endedAtS` is `null` while the series is
 * checked.
 */
export interface SeriesRow {
  readonly series: number
  readonly endpoint: number
  readonly generation: number
  readonly changedAtS: number
  readonly intervalS: number
  readonly timeoutMs: number
  readonly state: StoredState
  readonly sinceS: number
  readonly lastDueS: number
  readonly knownDueS: number
  readonly clean: number
  readonly reason: number
  readonly endedAtS: number | null
}

/** A change of state that the main thread applies exactly once. */
export interface Transition {
  readonly atS: number
  /** '' where it is about a region. */
  readonly serviceId: string
  readonly kind:
    | 'service.state'
    | 'service.round'
    | 'service.recovered'
    | 'service.steady'
    | 'certificate.expiring'
    | 'agent.lost'
    | 'agent.back'
  /** JSON. */
  readonly body: string
}

interface EndpointSpan {
  readonly endpoint: number
  readonly fromS: number
  readonly state: StoredState
  readonly regionsDown: string
}

/** Writes rows of states in the transaction of the caller. */
export type StateRows = ReturnType<typeof prepareStateRows>

/** Prepares the statements that write states to `database`. */
export function prepareStateRows(database: ResultsDatabase) {
  const putService = database.prepare(
    upsertSql('service_now', ['service_id'], ['org_id', 'generation', 'state', 'since_s']),
  )
  const removeService = database.prepare('DELETE FROM service_now WHERE service_id = ?')
  const putEndpoint = database.prepare(
    upsertSql('endpoints', ['number'], ['id', 'service_id', 'org_id', 'state', 'since_s']),
  )
  const putSeries = database.prepare(
    upsertSql(
      'series_states',
      ['series'],
      [
        ...['endpoint', 'generation', 'changed_at_s', 'interval_s', 'timeout_ms', 'state', 'since_s'],
        ...['last_due_s', 'known_due_s', 'clean', 'reason', 'ended_at_s'],
      ],
    ),
  )
  const addSpan = database.prepare(upsertSql('spans', ['endpoint', 'from_s'], ['state', 'regions_down']))
  const addServiceSpan = database.prepare(upsertSql('service_spans', ['service_id', 'from_s'], ['state']))
  const removeSpans = database.prepare('DELETE FROM spans WHERE endpoint = ? AND from_s > ?')
  const removeServiceSpans = database.prepare('DELETE FROM service_spans WHERE service_id = ? AND from_s > ?')
  const mark = database.prepare('INSERT INTO removals VALUES (?) ON CONFLICT DO NOTHING')
  const unmark = database.prepare('DELETE FROM removals WHERE service_id = ?')
  const addTransition = database.prepare(
    'INSERT INTO transitions (at_s, service_id, kind, body) VALUES (?, ?, ?, ?)',
  )
  return {
    putService: ({ id, orgId, generation, state, sinceS }: ServiceRow): void => {
      putService.run(id, orgId, generation, STATE_CODES[state], sinceS)
    },
    removeService: (serviceId: string): void => {
      removeService.run(serviceId)
    },
    putEndpoint: ({ number, id, serviceId, orgId, state, sinceS }: EndpointRow): void => {
      putEndpoint.run(number, id, serviceId, orgId, STATE_CODES[state], sinceS)
    },
    putSeries: (row: SeriesRow): void => {
      putSeries.run(
        ...[row.series, row.endpoint, row.generation, row.changedAtS, row.intervalS, row.timeoutMs],
        ...[
          STATE_CODES[row.state],
          row.sinceS,
          row.lastDueS,
          row.knownDueS,
          row.clean,
          row.reason,
          row.endedAtS,
        ],
      )
    },
    addSpan: ({ endpoint, fromS, state, regionsDown }: EndpointSpan): void => {
      addSpan.run(endpoint, fromS, STATE_CODES[state], regionsDown)
    },
    addServiceSpan: (serviceId: string, fromS: number, state: StoredState): void => {
      addServiceSpan.run(serviceId, fromS, STATE_CODES[state])
    },
    /** Removes the spans of an endpoint or a service that begin after `atS`. */
    removeSpansAfter: (owner: number | string, atS: number): void => {
      if (typeof owner === 'number') removeSpans.run(owner, atS)
      else removeServiceSpans.run(owner, atS)
    },
    /** Marks the history of a service for removal; `false` removes the mark. */
    markForRemoval: (serviceId: string, isRemoved: boolean): void => {
      if (isRemoved) mark.run(serviceId)
      else unmark.run(serviceId)
    },
    addTransition: ({ atS, serviceId, kind, body }: Transition): void => {
      addTransition.run(atS, serviceId, kind, body)
    },
  }
}

/** A row with the stored number of its state. */
export type Coded<Row extends { readonly state: StoredState }> = Omit<Row, 'state'> & {
  readonly state: number
}

/** All stored states. */
export function readStateRows(database: ResultsDatabase) {
  const named = <Row extends { readonly state: StoredState }>(row: Coded<Row>) => ({
    ...row,
    state: stateName(row.state),
  })
  const services = database
    .prepare<[], Coded<ServiceRow>>(
      'SELECT service_id AS id, org_id AS "orgId", generation, state, since_s AS "sinceS" FROM service_now',
    )
    .all()
  const endpoints = database
    .prepare<[number], Coded<EndpointRow>>(
      `SELECT number, id, service_id AS "serviceId", org_id AS "orgId", state, since_s AS "sinceS" FROM endpoints
       WHERE state <> ?`,
    )
    .all(STATE_CODES.ended)
  return {
    services: services.map(named),
    endpoints: endpoints.map(named),
    series: readSeriesRows(database),
  }
}

/** All stored series with their organisation, recently ended ones included. */
export function readSeriesRows(
  database: ResultsDatabase,
): readonly (SeriesRow & { readonly orgId: string })[] {
  return database
    .prepare<[], Coded<SeriesRow & { readonly orgId: string }>>(SERIES_SQL)
    .all()
    .map((row) => ({ ...row, state: stateName(row.state) }))
}

/**
 * How late a result may arrive after its series were written (seconds): a check takes up to a minute and is retried
 * once.
 */
const LATE_S_MAX = 300

/** The columns of a series, from series_states `s`, endpoints `e` and `newest`, the newest due times in the log. */
export const SERIES_COLUMNS = `s.series, s.endpoint, coalesce(e.org_id, '') AS "orgId", s.generation, s.changed_at_s AS "changedAtS", s.interval_s AS "intervalS",
    s.timeout_ms AS "timeoutMs", s.state, s.since_s AS "sinceS", CASE WHEN newest.last > s.last_due_s THEN newest.last ELSE s.last_due_s END AS "lastDueS",
    CASE WHEN newest.known > s.known_due_s THEN newest.known ELSE s.known_due_s END AS "knownDueS", s.clean, s.reason, s.ended_at_s AS "endedAtS"`

/**
 * All series. The upkeep and state changes write their rows; newer values of `last_due_s` and `known_due_s` come from
 * the log.
 */
const SERIES_SQL = `
  WITH newest AS (
    SELECT series, max(due_s) AS last, max(CASE WHEN outcome <> ${OUTCOMES.unknown} THEN due_s ELSE 0 END) AS known FROM (
      SELECT series, due_s, outcome FROM log
      WHERE due_s >= coalesce((SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'series written at'), 0) - ${LATE_S_MAX}
      UNION ALL SELECT series, due_s, outcome FROM late
    ) AS found
    GROUP BY series
  )
  SELECT ${SERIES_COLUMNS}
  FROM series_states s LEFT JOIN newest ON newest.series = s.series LEFT JOIN endpoints e ON e.number = s.endpoint`
