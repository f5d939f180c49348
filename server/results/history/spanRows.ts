import type { ResultsDatabase } from '../database/resultsDatabase.ts'
import { stateName } from '../file/resultsSchema.ts'
import type { Period, StateSpan } from './daySeconds.ts'

/** Prepares reading the spans of a period, including the one at its start, oldest first. */
export function prepareSpanRows(database: ResultsDatabase) {
  const ofService = database.prepare<[string, string, number, number], { fromS: number; state: number }>(
    `SELECT from_s AS "fromS", state FROM service_spans WHERE service_id = ? AND from_s >= coalesce(
       (SELECT max(from_s) FROM service_spans WHERE service_id = ? AND from_s <= ?), 0) AND from_s < ? ORDER BY from_s`,
  )
  const ofEndpoint = database.prepare<
    [number, number, number, number],
    { fromS: number; state: number; regions: string }
  >(
    `SELECT from_s AS "fromS", state, regions_down AS regions FROM spans WHERE endpoint = ? AND from_s >= coalesce(
       (SELECT max(from_s) FROM spans WHERE endpoint = ? AND from_s <= ?), 0) AND from_s < ? ORDER BY from_s`,
  )
  const maintenance = database.prepare<[string], Period>(
    'SELECT from_s AS "fromS", until_s AS "untilS" FROM maintenance_windows WHERE service_id = ?',
  )
  return {
    ofService: (id: string, { fromS, untilS }: Period): readonly StateSpan[] =>
      ofService.all(id, id, fromS, untilS).map((row) => ({ fromS: row.fromS, state: stateName(row.state) })),
    /** With the codes of the regions that are down. */
    ofEndpoint: (endpoint: number, { fromS, untilS }: Period) =>
      ofEndpoint.all(endpoint, endpoint, fromS, untilS).map((row) => ({
        fromS: row.fromS,
        state: stateName(row.state),
        regionsDown: row.regions === '' ? [] : row.regions.split(','),
      })),
    /** Maintenance windows of a service. */
    maintenanceOf: (serviceId: string): readonly Period[] => maintenance.all(serviceId),
  }
}
