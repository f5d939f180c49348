import type { Command } from '../../domain/commands.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import {
  BUS_READER,
  type CommandFilter,
  type Cursor,
  type DeliveryPage,
  type LoggedCommand,
  type OutboxStore,
} from '../store.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf, type Sql } from './connections/sql.ts'

/** Maximum total size of the definitions of one fetch (bytes): there may be any number of services, of 1 MiB each. */
const FETCHED_BYTES_MAX = 8 * 1024 * 1024

/** A position among the commands: a transaction, as PostgreSQL numbers them, and a command of it. */
interface Position {
  readonly xid: string
  readonly sequence: string
}

const START: Position = { xid: '0', sequence: '0' }

/**
 * The outbox in PostgreSQL. Transactions become visible out of the order of their sequence numbers, so readers follow
 * transaction ids, up to the oldest transaction that is still running.
 */
export function postgresOutbox({ write, read }: Pick<Pools, 'write' | 'read'>, storeId: string): OutboxStore {
  const cursors = cursorsOf(storeId)
  return {
    commandsAfter: (cursor, countMax) => commandsAfter(read, { cursor, countMax, storeId }),
    cursorOf: async (reader) => {
      const place = await rowOf<Position>(
        read,
        'SELECT xid::text, sequence::text FROM outbox_readers WHERE name = $1',
        [reader],
      )
      return place === undefined ? '' : cursors.write(place)
    },
    moveCursor: async (reader, from, to) => {
      const [left, entered] = [cursors.read(from), cursors.read(to)]
      if (left === undefined || entered === undefined) return false
      const moved = await write.rows(
        `INSERT INTO outbox_readers AS r (name, xid, sequence)
         SELECT $1, $4::xid8, $5::bigint WHERE $2::text = '0'
           OR EXISTS (SELECT 1 FROM outbox_readers WHERE name = $1)
         ON CONFLICT (name) DO UPDATE SET xid = excluded.xid, sequence = excluded.sequence
           WHERE r.xid = $2::text::xid8 AND r.sequence = $3::bigint RETURNING name`,
        [reader, left.xid, left.sequence, entered.xid, entered.sequence],
      )
      return moved.length === 1
    },
    listCommands: (filter = {}) => listCommands(read, filter),
  }
}

/** Cursors as text: store id and position of the last command read. */
function cursorsOf(storeId: string) {
  return {
    write: ({ xid, sequence }: Position): Cursor => `${storeId}.${xid}.${sequence}`,
    /** `undefined` for a cursor of another store. */
    read: (cursor: Cursor): Position | undefined => {
      if (cursor === '') return START
      const [id, xid, sequence] = cursor.split('.')
      return id === storeId && xid !== undefined && sequence !== undefined ? { xid, sequence } : undefined
    },
  }
}

interface CommandRow extends Command, Position {
  /** Size of the service's definition (bytes); `null` when the service does not run in the region. */
  readonly bytes: number | null
}

interface DefinitionRow {
  readonly id: string
  readonly generation: number
  readonly runningIn: string
  readonly text: string
}

async function commandsAfter(
  read: Sql,
  { cursor, countMax, storeId }: { cursor: Cursor; countMax: number; storeId: string },
): Promise<DeliveryPage> {
  const cursors = cursorsOf(storeId)
  const from = cursors.read(cursor)
  if (from === undefined) throw new Error('the cursor of a reader is of another store')
  const rows = await read.rows<CommandRow>(
    `SELECT c.xid::text, c.sequence::text, c.type, c.region, c.service_id AS "serviceId", c.generation,
       CASE WHEN c.region = ANY(string_to_array(s.running_in, ',')) THEN octet_length(s.response) END AS bytes
     FROM commands c LEFT JOIN services s ON s.id = c.service_id
     WHERE (c.xid, c.sequence) > ($1::text::xid8, $2::bigint) AND c.xid < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY c.xid, c.sequence LIMIT $3`,
    [from.xid, from.sequence, countMax],
  )
  const affordable = affordableOf(rows)
  const definitions = await readDefinitions(read, affordable)
  const deliveries = affordable.map(({ region, serviceId, generation }) => {
    const service = definitions.get(serviceId)
    const isRunning = service?.runningIn.split(',').includes(region) === true
    return {
      ...{ region, serviceId, storeId, generation: service?.generation ?? generation },
      type: isRunning ? ('StartServiceMonitoring' as const) : ('EndServiceMonitoring' as const),
      definition: isRunning ? service.text : null,
    }
  })
  return { deliveries, next: cursors.write(affordable.at(-1) ?? from) }
}

/** The first of `rows` whose definitions fit in memory: at least one. */
function affordableOf(rows: readonly CommandRow[]): readonly CommandRow[] {
  const known = new Set<string>()
  let bytes = 0
  const end = rows.findIndex((row, index) => {
    if (row.bytes === null || known.has(row.serviceId)) return false
    known.add(row.serviceId)
    bytes += row.bytes
    return bytes > FETCHED_BYTES_MAX && index > 0
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/** The services of `rows` as they are now; a region gets the newest definition. Deleted ones are absent. */
async function readDefinitions(
  read: Sql,
  rows: readonly CommandRow[],
): Promise<ReadonlyMap<string, DefinitionRow>> {
  if (rows.length === 0) return new Map()
  const found = await read.rows<DefinitionRow>(
    `SELECT id, definition_generation AS generation, running_in AS "runningIn",
       CASE WHEN running_in = '' THEN '' ELSE response END AS text
     FROM services WHERE id = ANY($1::uuid[])`,
    [[...new Set(rows.map(({ serviceId }) => serviceId))]],
  )
  return new Map(found.map((row) => [row.id, row]))
}

async function listCommands(read: Sql, filter: CommandFilter): Promise<readonly LoggedCommand[]> {
  const { orgId, serviceId, region, isUnpublished = false, afterSequence = 0, countMax = null } = filter
  const ids = [orgId, serviceId].map((id) => (id === undefined ? undefined : uuidOrNull(id)))
  if (ids.includes(null)) return []
  const published = `EXISTS (SELECT 1 FROM outbox_readers r
    WHERE r.name = '${BUS_READER}' AND (c.xid, c.sequence) <= (r.xid, r.sequence))`
  return await read.rows<LoggedCommand>(
    `SELECT sequence, type, region, service_id AS "serviceId", generation, org_id AS "orgId",
       created_at_ms AS "createdAtMs", ${published} AS "isPublished"
     FROM commands c
     WHERE sequence > $1 AND ($2::uuid IS NULL OR org_id = $2) AND ($3::uuid IS NULL OR service_id = $3)
       AND ($4::text IS NULL OR region = $4) AND (NOT $5::boolean OR NOT ${published})
     ORDER BY xid, sequence LIMIT $6`,
    [afterSequence, ids[0] ?? null, ids[1] ?? null, region ?? null, isUnpublished, countMax],
  )
}
