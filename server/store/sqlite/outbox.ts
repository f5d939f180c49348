import type { Database } from 'better-sqlite3'
import type { Command, Delivery } from '../../domain/commands.ts'
import {
  BUS_READER,
  type CommandFilter,
  type Cursor,
  type LoggedCommand,
  type OutboxStore,
} from '../store.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'

/** Maximum total size of the definitions of one fetch (bytes): there may be any number of services, of 1 MiB each. */
const FETCHED_BYTES_MAX = 8 * 1024 * 1024

/** A command and the current state of its service; nulls when it is deleted. */
interface CommandRow extends Command {
  readonly sequence: number
  readonly definitionGeneration: number | null
  readonly runningIn: string | null
}

const PUBLISHED_UP_TO = `(SELECT sequence FROM outbox_readers WHERE name = '${BUS_READER}')`

/** Dependencies that the outbox shares with the rest of the store. */
interface Sharing {
  readonly commits: GroupCommit
  readonly storeId: string
}

/**
 * The outbox in SQLite. The single writer makes sequence numbers visible in order, so the position of a reader is one
 * number. Commands contain no definition: a region gets the newest one at delivery. New commands are read by the
 * connection that wrote them, which has their pages in its cache.
 */
export function sqliteOutbox({ reader, writer }: Connections, { commits, storeId }: Sharing): OutboxStore {
  const cursors = cursorsOf(storeId)
  const place = writer.prepare<[string], number>('SELECT sequence FROM outbox_readers WHERE name = ?').pluck()
  const enter = writer.prepare(
    'INSERT INTO outbox_readers (name, sequence) VALUES (?, 0) ON CONFLICT DO NOTHING',
  )
  const move = writer.prepare('UPDATE outbox_readers SET sequence = ? WHERE name = ? AND sequence = ?')
  return {
    commandsAfter: prepareCommandsAfter(writer, storeId),
    cursorOf: async (name) => {
      const sequence = place.get(name)
      return sequence === undefined ? '' : cursors.write(sequence)
    },
    moveCursor: async (name, from, to) => {
      const [left, entered] = [cursors.read(from), cursors.read(to)]
      if (left === undefined || entered === undefined) return false
      return await commits.run(() => {
        enter.run(name)
        return move.run(entered, name, left).changes === 1
      })
    },
    listCommands: prepareLog(reader),
  }
}

/** Cursors as text: store id and sequence number of the last command read. */
function cursorsOf(storeId: string) {
  return {
    write: (sequence: number): Cursor => `${storeId}.${sequence}`,
    /** `undefined` for a cursor of another store. */
    read: (cursor: Cursor): number | undefined => {
      if (cursor === '') return 0
      const [id, sequence] = cursor.split('.')
      return id === storeId ? Number(sequence) : undefined
    },
  }
}

function prepareCommandsAfter(writer: Database, storeId: string): OutboxStore['commandsAfter'] {
  const cursors = cursorsOf(storeId)
  const after = writer.prepare<[number, number], CommandRow>(
    `SELECT c.sequence, c.type, c.region, c.service_id AS serviceId, c.generation,
       s.definition_generation AS definitionGeneration, s.running_in AS runningIn
     FROM commands c LEFT JOIN services s ON s.id = c.service_id
     WHERE c.sequence > ? ORDER BY c.sequence LIMIT ?`,
  )
  const definition = writer.prepare<[string], string>('SELECT response FROM services WHERE id = ?').pluck()
  return async (cursor, countMax) => {
    const from = cursors.read(cursor)
    if (from === undefined) throw new Error('the cursor of a reader is of another store')
    const affordable = affordableOf(after.iterate(from, countMax), (id) => definition.get(id) ?? '')
    const deliveries = affordable.map(({ row, definition: found }) => deliveryOf(row, found, storeId))
    return { deliveries, next: cursors.write(affordable.at(-1)?.row.sequence ?? from) }
  }
}

/** A command and the definition for its region; `null` when the service no longer runs there. */
interface Affordable {
  readonly row: CommandRow
  readonly definition: string | null
}

/** The first of `rows` whose definitions fit in memory, at least one. */
function affordableOf(
  rows: Iterable<CommandRow>,
  definitionOf: (serviceId: string) => string,
): readonly Affordable[] {
  const definitions = new Map<string, string>()
  const affordable: Affordable[] = []
  let bytes = 0
  for (const row of rows) {
    if (!(row.runningIn ?? '').split(',').includes(row.region)) {
      affordable.push({ row, definition: null })
      continue
    }
    const known = definitions.get(row.serviceId)
    const definition = known ?? definitionOf(row.serviceId)
    if (known === undefined) bytes += Buffer.byteLength(definition)
    if (bytes > FETCHED_BYTES_MAX && affordable.length > 0) break
    definitions.set(row.serviceId, definition)
    affordable.push({ row, definition })
  }
  return affordable
}

function deliveryOf(row: CommandRow, definition: string | null, storeId: string): Delivery {
  const { region, serviceId, definitionGeneration } = row
  const type = definition === null ? 'EndServiceMonitoring' : 'StartServiceMonitoring'
  return { type, region, serviceId, generation: definitionGeneration ?? row.generation, storeId, definition }
}

type LogRow = Omit<LoggedCommand, 'isPublished'> & { readonly isPublished: number }

function prepareLog(reader: Database): OutboxStore['listCommands'] {
  const select = reader.prepare<[Record<string, string | number | null>], LogRow>(
    `SELECT sequence, type, region, service_id AS serviceId, generation, org_id AS orgId,
       created_at_ms AS createdAtMs, sequence <= ${PUBLISHED_UP_TO} AS isPublished
     FROM commands
     WHERE sequence > max(@afterSequence, CASE WHEN @isUnpublished THEN ${PUBLISHED_UP_TO} ELSE 0 END)
       AND (@orgId IS NULL OR org_id = @orgId) AND (@serviceId IS NULL OR service_id = @serviceId)
       AND (@region IS NULL OR region = @region)
     ORDER BY sequence LIMIT @countMax`,
  )
  return async (filter: CommandFilter = {}) => {
    const { orgId, serviceId, region, isUnpublished = false, afterSequence = 0, countMax } = filter
    const texts = { orgId: orgId ?? null, serviceId: serviceId ?? null, region: region ?? null }
    const numbers = { isUnpublished: isUnpublished ? 1 : 0, afterSequence, countMax: countMax ?? -1 }
    return select.all({ ...texts, ...numbers }).map((row) => ({ ...row, isPublished: row.isPublished === 1 }))
  }
}
