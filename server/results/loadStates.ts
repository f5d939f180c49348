import { type EndpointEntry, type SeriesEntry, type ServiceEntry, seriesEntry } from './boardEntries.ts'
import { prepareMeta, readMeta } from './database/meta.ts'
import type { ResultsDatabase } from './database/resultsDatabase.ts'
import { groupBy } from './history/groupBy.ts'
import { readStateRows } from './stateRows.ts'
import { disownTransitions } from './transitionRows.ts'

/** Generation of services of another store (a restored backup): lower than any real generation. */
const OTHER_STORE = -1

/**
 * The states in `database`, by id or number, without ended services and endpoints. If they belong to another store than
 * `storeId`, their generations count as older than any, and their transitions are ignored. Records `storeId`.
 */
export function loadStates(database: ResultsDatabase, storeId: string) {
  const isSameStore = database.transact(() => isOfStore(database, storeId))
  const rows = readStateRows(database)
  const services = new Map<string, ServiceEntry>()
  const endpoints = new Map<number, EndpointEntry>()
  const series = new Map<number, SeriesEntry>()
  const numbersOf = groupBy(rows.endpoints, ({ serviceId }) => serviceId)
  const activeOf = groupBy(
    rows.series.filter(({ endedAtS }) => endedAtS === null),
    ({ endpoint }) => endpoint,
  )
  for (const row of rows.series) {
    const entry = seriesEntry(row)
    series.set(row.series, isSameStore ? entry : { ...entry, generation: OTHER_STORE })
  }
  for (const row of rows.endpoints) {
    const active = (activeOf.get(row.number) ?? []).map((one) => one.series)
    endpoints.set(row.number, { ...row, series: active })
  }
  for (const row of rows.services) {
    services.set(row.id, {
      ...row,
      generation: isSameStore ? row.generation : OTHER_STORE,
      isPaused: row.state === 'paused',
      endpoints: (numbersOf.get(row.id) ?? []).map(({ number }) => number),
    })
  }
  return { services, endpoints, series }
}

/** Whether the states in `database` belong to the store `storeId`; records `storeId`. */
function isOfStore(database: ResultsDatabase, storeId: string): boolean {
  const known = readMeta(database, 'store id')
  prepareMeta(database)('store id', storeId)
  if (known === undefined || known === storeId) return true
  disownTransitions(database)
  return false
}
