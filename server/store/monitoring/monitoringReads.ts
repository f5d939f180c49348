import { timestamp } from '../../domain/environment.ts'
import type { Retention } from '../../domain/historyPolicy.ts'
import type { MonitoringStore, StoredDefinition } from '../monitoringStore.ts'
import { listOf, row, rows, run, type Script, type Scripts, type StoredList } from '../scripts/script.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'

/** Maximum total size of the definitions of one page (bytes): there may be any number of services, of 1 MiB each. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024
/** Less than the id of any service. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

type DefinitionRow = Omit<StoredDefinition, 'runningIn'> & { readonly runningIn: string }

const SELECT_DEFINITION = `SELECT id, org_id AS "orgId", definition_generation AS generation, running_in AS "runningIn",
  response AS text FROM services`

/** Reads of monitoring. `serviceIds` is the SQL for the services of a maintenance window, as in WindowRows. */
export function monitoringReads({ read, write }: Scripts, serviceIds: string) {
  return {
    // Reads page by page, so that memory does not depend on the number of services.
    definitionsAfter: (serviceId, countMax) =>
      read(function* () {
        const found = yield* rows<DefinitionRow>(
          `${SELECT_DEFINITION} WHERE id IN (SELECT id FROM
             (SELECT id, row_number() OVER running AS place, sum(size) OVER running AS bytes
              FROM (SELECT id, octet_length(response) AS size FROM services WHERE id > $1 ORDER BY id LIMIT $2) page
              WINDOW running AS (ORDER BY id)) page
             WHERE place = 1 OR bytes <= ${PAGE_BYTES_MAX}) ORDER BY id`,
          [serviceId === '' ? FIRST_ID : uuidOrNull(serviceId), countMax],
        )
        return found.map(definitionOf)
      }),
    definitionOf: (serviceId) =>
      read(function* () {
        const found = yield* row<DefinitionRow>(`${SELECT_DEFINITION} WHERE id = $1`, [uuidOrNull(serviceId)])
        return found === undefined ? undefined : definitionOf(found)
      }),
    endpointNumbers: (ids) =>
      read(function* () {
        const found = yield* rows<{ id: string; number: number }>(
          `SELECT endpoint_id AS id, number FROM numbered_endpoints
           WHERE service_id IN (SELECT value::uuid FROM json_array_elements_text($1::json))`,
          [JSON.stringify(uuidsIn(ids))],
        )
        return new Map(found.map(({ id, number }) => [id, number]))
      }),
    numberEndpoints: (endpoints) =>
      write(() =>
        run(
          `INSERT INTO numbered_endpoints (endpoint_id, service_id)
           SELECT (value ->> 'id')::uuid, (value ->> 'serviceId')::uuid FROM json_array_elements($1::json)
           WHERE NOT EXISTS (SELECT 1 FROM numbered_endpoints WHERE endpoint_id = (value ->> 'id')::uuid)
           ON CONFLICT DO NOTHING`,
          [JSON.stringify(endpoints)],
        ),
      ),
    historyPolicy: (endAfterMs) =>
      read(function* () {
        return { retention: yield* retention(), maintenance: yield* windowsAfter(endAfterMs, serviceIds) }
      }),
    appliedTransition: (resultsFile) =>
      read(function* () {
        const text = 'SELECT sequence FROM applied_transitions WHERE results_file = $1'
        return (yield* row<{ sequence: number }>(text, [resultsFile]))?.sequence ?? 0
      }),
  } satisfies Partial<MonitoringStore>
}

/** Marks the transitions after `after` up to `upTo` as applied. Throws when another transition was applied last. */
export function* markApplied(resultsFile: string, after: number, upTo: number): Script<void> {
  const marked = yield* row(
    `INSERT INTO applied_transitions AS a (only_row, results_file, sequence)
     SELECT $4::boolean, $1, $3 WHERE $2::bigint = 0 OR EXISTS (SELECT 1 FROM applied_transitions)
     ON CONFLICT (only_row) DO UPDATE SET results_file = excluded.results_file, sequence = excluded.sequence
       WHERE CASE WHEN a.results_file = $1 THEN a.sequence ELSE 0 END = $2 RETURNING sequence`,
    [resultsFile, after, upTo, true],
  )
  if (marked === undefined) throw new Error('transitions must be applied in order')
}

function definitionOf({ runningIn, ...definition }: DefinitionRow): StoredDefinition {
  return { ...definition, runningIn: runningIn === '' ? [] : runningIn.split(',') }
}

function* retention(): Script<ReadonlyMap<string, Retention>> {
  const found = yield* rows<Retention & { readonly orgId: string }>(
    `SELECT o.id AS "orgId", coalesce(o.results_days, p.results_days) AS "resultsDays",
       greatest(p.hours_days, coalesce(o.results_days, p.results_days)) AS "hoursDays"
     FROM orgs o JOIN plans p ON p.name = o.plan`,
    [],
  )
  return new Map(found.map(({ orgId, ...days }) => [orgId, days]))
}

function* windowsAfter(endAfterMs: number, serviceIds: string) {
  const found = yield* rows<{ startsAt: string; endsAt: string; serviceIds: StoredList<string> }>(
    `SELECT starts_at AS "startsAt", ends_at AS "endsAt", ${serviceIds} AS "serviceIds" FROM incidents
     WHERE kind = 'maintenance' AND ends_at > $1`,
    [timestamp(endAfterMs)],
  )
  return found.flatMap((window) => {
    const [fromS, untilS] = [secondsOf(window.startsAt), secondsOf(window.endsAt)]
    return listOf(window.serviceIds).map((serviceId) => ({ serviceId, fromS, untilS }))
  })
}

function secondsOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 1_000)
}
