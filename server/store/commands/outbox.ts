import type { Command } from '../../domain/commands.ts'
import { row, rows, type Script, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import {
  BUS_READER,
  type CommandFilter,
  type CommandPage,
  type Cursor,
  type LoggedCommand,
  type OutboxStore,
} from '../store.ts'
import type { CommandOrder } from './commandOrder.ts'

/** A position among the commands: the transaction of a command, and its sequence number. */
interface Position {
  readonly xid: string
  readonly sequence: number
}

const START: Position = { xid: '0', sequence: 0 }

/** The order of commands, and the store whose cursors are read. */
interface OutboxParts {
  readonly order: CommandOrder
  readonly storeId: string
}

/** The outbox. */
export function outbox({ read, write }: Scripts, { order, storeId }: OutboxParts): OutboxStore {
  const { place, columns, xid, given } = order
  const cursors = cursorsOf(storeId)
  return {
    commandsAfter: (cursor, countMax) => {
      const from = cursors.read(cursor)
      if (from === undefined) throw new Error('the cursor of a reader is of another store')
      return read(() => commandsAfter(from, countMax, { order, storeId }))
    },
    cursorOf: (reader) =>
      read(function* () {
        const text = `SELECT ${xid('r')} AS xid, sequence FROM outbox_readers r WHERE name = $1`
        const position = yield* row<Position>(text, [reader])
        return position === undefined ? '' : cursors.write(position)
      }),
    moveCursor: async (reader, from, to) => {
      const [left, entered] = [cursors.read(from), cursors.read(to)]
      if (left === undefined || entered === undefined) return false
      const text = `INSERT INTO outbox_readers AS r (name, ${columns})
        SELECT $1, ${given(4)} WHERE $3::bigint = 0 OR EXISTS (SELECT 1 FROM outbox_readers WHERE name = $1)
        ON CONFLICT (name) DO UPDATE SET (${columns}) = (${place('excluded')})
          WHERE (${place('r')}) = (${given(2)}) RETURNING name`
      const values = [reader, left.xid, left.sequence, entered.xid, entered.sequence]
      return (await write(() => row(text, values))) !== undefined
    },
    listCommands: (filter = {}) => read(() => listCommands(filter, order)),
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
      const isOurs = id === storeId && xid !== undefined && sequence !== undefined
      return isOurs ? { xid, sequence: Number(sequence) } : undefined
    },
  }
}

function* commandsAfter(
  from: Position,
  countMax: number,
  { order: { place, xid, given, settled }, storeId }: OutboxParts,
): Script<CommandPage> {
  const commands = yield* rows<Command & Position>(
    `SELECT ${xid('c')} AS xid, sequence, type, region, service_id AS "serviceId", generation FROM commands c
     WHERE (${place('c')}) > (${given(1)}) AND ${settled} ORDER BY ${place('c')} LIMIT $3`,
    [from.xid, from.sequence, countMax],
  )
  return { commands, next: cursorsOf(storeId).write(commands.at(-1) ?? from) }
}

/** A logged command; `isPublished` is a number in SQLite, as all booleans. */
type LogRow = Omit<LoggedCommand, 'isPublished'> & { readonly isPublished: boolean | number }

function* listCommands(filter: CommandFilter, { place }: CommandOrder): Script<readonly LoggedCommand[]> {
  const { orgId, serviceId, region = null, isUnpublished = false } = filter
  const { afterSequence = 0, countMax = Number.MAX_SAFE_INTEGER } = filter
  const ids = [orgId, serviceId].map((id) => (id === undefined ? undefined : uuidOrNull(id)))
  if (ids.includes(null)) return []
  const published = `EXISTS (SELECT 1 FROM outbox_readers r
    WHERE r.name = '${BUS_READER}' AND (${place('c')}) <= (${place('r')}))`
  const found = yield* rows<LogRow>(
    `SELECT sequence, type, region, service_id AS "serviceId", generation, org_id AS "orgId",
       created_at_ms AS "createdAtMs", ${published} AS "isPublished"
     FROM commands c
     WHERE sequence > $1 AND ($2::uuid IS NULL OR org_id = $2) AND ($3::uuid IS NULL OR service_id = $3)
       AND ($4::text IS NULL OR region = $4) AND (NOT $5::boolean OR NOT ${published})
     ORDER BY sequence LIMIT $6`,
    [afterSequence, ids[0] ?? null, ids[1] ?? null, region, isUnpublished, countMax],
  )
  return found.map(({ isPublished, ...command }) => ({ ...command, isPublished: Boolean(isPublished) }))
}
