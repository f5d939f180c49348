import { timestamp } from '../../domain/environment.ts'
import type { Retention } from '../../domain/historyPolicy.ts'
import type { MonitoringStore, StoredDefinition } from '../monitoringStore.ts'
import { uuidOrNull, uuidsIn } from '../shared/uuid.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'
import { transitionApplier } from './transitions.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Maximum total size of the definitions of one page (bytes): there may be any number of services, of 1 MiB each. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024
/** Less than the id of any service. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

const DEFINITION_COLUMNS = `id, org_id AS "orgId", definition_generation AS generation,
  string_to_array(running_in, ',') AS "runningIn", response AS text`

/** Commands whose transaction, like all earlier ones, has ended. */
const SETTLED = 'xid < pg_snapshot_xmin(pg_current_snapshot())'

interface ChangedRow {
  readonly serviceId: string
  readonly sequence: number
}

/**
 * Data for monitoring, in PostgreSQL. Changes are ordered by transaction id, and visible once all earlier transactions
 * have ended: values of a sequence become visible out of order. All changes of a transaction have the same position, so
 * pages may be a few rows longer than requested.
 */
export function postgresMonitoring({
  pools,
  queues,
  nowMs,
}: StoreParts): Omit<MonitoringStore, 'regionModes' | 'setRegionMode'> {
  const { read, write } = pools
  const numberOf = async (text: string): Promise<number> =>
    (await rowOf<{ number: number }>(read, text, []))?.number ?? 0
  return {
    definitionsAfter: (serviceId, countMax) =>
      read.rows<StoredDefinition>(
        `SELECT ${DEFINITION_COLUMNS} FROM
           (SELECT *, row_number() OVER running AS place, sum(octet_length(response)) OVER running AS bytes
            FROM (SELECT * FROM services WHERE id > $1 ORDER BY id LIMIT $2) page WINDOW running AS (ORDER BY id)) page
         WHERE place = 1 OR bytes <= ${PAGE_BYTES_MAX} ORDER BY id`,
        [serviceId === '' ? FIRST_ID : uuidOrNull(serviceId), countMax],
      ),
    definitionOf: (serviceId) =>
      rowOf<StoredDefinition>(read, `SELECT ${DEFINITION_COLUMNS} FROM services WHERE id = $1`, [
        uuidOrNull(serviceId),
      ]),
    newestCommand: () =>
      numberOf(
        `SELECT greatest(deleted_up_to, (SELECT xid FROM commands WHERE ${SETTLED} ORDER BY xid DESC LIMIT 1))
           ::text::bigint AS number FROM outbox_horizon`,
      ),
    commandsForgottenUpTo: () => numberOf('SELECT deleted_up_to::text::bigint AS number FROM outbox_horizon'),
    changedServices: ({ after, upTo, region = null, countMax }) =>
      read.rows<ChangedRow>(
        `SELECT service_id AS "serviceId", max(xid::text::bigint) AS sequence FROM commands
         WHERE xid > $1::text::xid8 AND xid <= $2::text::xid8 AND ${SETTLED}
           ${region === null ? '' : 'AND region = $4'}
         GROUP BY service_id ORDER BY max(xid::text::bigint) FETCH FIRST $3 ROWS WITH TIES`,
        [String(after), String(upTo), countMax, ...(region === null ? [] : [region])],
      ),
    newestQuietChange: () =>
      numberOf(
        `SELECT xid::text::bigint AS number FROM quiet_changes WHERE ${SETTLED} ORDER BY xid DESC LIMIT 1`,
      ),
    quietChanges: (after, countMax) =>
      read.rows<ChangedRow>(
        `SELECT service_id AS "serviceId", xid::text::bigint AS sequence FROM quiet_changes
         WHERE xid > $1::text::xid8 AND ${SETTLED} ORDER BY xid FETCH FIRST $2 ROWS WITH TIES`,
        [String(after), countMax],
      ),
    historyPolicy: async (endAfterMs) => ({
      retention: await readRetention(read),
      maintenance: await read.rows(
        `SELECT unnest(service_ids) AS "serviceId", extract(epoch FROM starts_at::timestamptz)::bigint AS "fromS",
           extract(epoch FROM ends_at::timestamptz)::bigint AS "untilS"
         FROM incidents WHERE kind = 'maintenance' AND ends_at > $1`,
        [timestamp(endAfterMs)],
      ),
    }),
    endpointNumbers: async (serviceIds) => {
      const rows = await read.rows<{ id: string; number: number }>(
        'SELECT endpoint_id AS id, number FROM numbered_endpoints WHERE service_id = ANY ($1::uuid[])',
        [uuidsIn(serviceIds)],
      )
      return new Map(rows.map(({ id, number }) => [id, number]))
    },
    numberEndpoints: async (endpoints) => {
      await write.rows(
        `INSERT INTO numbered_endpoints (endpoint_id, service_id)
         SELECT u.endpoint_id, u.service_id FROM unnest($1::uuid[], $2::uuid[]) AS u (endpoint_id, service_id)
         WHERE NOT EXISTS (SELECT FROM numbered_endpoints n WHERE n.endpoint_id = u.endpoint_id)
         ON CONFLICT DO NOTHING`,
        [endpoints.map(({ id }) => id), endpoints.map(({ serviceId }) => serviceId)],
      )
    },
    appliedTransition: async (resultsFile) => {
      const row = await rowOf<{ sequence: number }>(
        read,
        'SELECT sequence FROM applied_transitions WHERE results_file = $1',
        [resultsFile],
      )
      return row?.sequence ?? 0
    },
    applyTransition: transitionApplier({ pools, queues, nowMs }),
  }
}

async function readRetention(read: Pools['read']): Promise<ReadonlyMap<string, Retention>> {
  const rows = await read.rows<Retention & { readonly orgId: string }>(
    `SELECT o.id AS "orgId", coalesce(o.results_days, p.results_days) AS "resultsDays",
       greatest(p.hours_days, coalesce(o.results_days, p.results_days)) AS "hoursDays"
     FROM orgs o JOIN plans p ON p.name = o.plan`,
    [],
  )
  return new Map(rows.map(({ orgId, ...days }) => [orgId, days]))
}
