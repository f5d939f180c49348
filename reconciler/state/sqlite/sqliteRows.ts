import type { Statement } from 'better-sqlite3'
import * as z from 'zod'
import { stateDocumentSchema } from '../model/record.ts'

/** Prepares a statement, or returns the one that it prepared before. */
export type Prepare = (sql: string) => Statement<unknown[]>

/** A table besides the schema of its records. */
interface Table {
  readonly order: string
  /** Fields without an SQLite type: booleans are 0 or 1, others are JSON. */
  readonly flags?: readonly string[]
  readonly json?: readonly string[]
  /** Columns whose name is not that of their field in snake case. */
  readonly names?: Readonly<Record<string, string>>
}

const { shape } = stateDocumentSchema

/** The tables of a state file, by the list of the document that each contains. */
export const ROWS = {
  bindings: tableOf('binding', shape.bindings, {
    order: 'key',
    flags: ['paused', 'protect'],
    json: ['desired', 'observed', 'heals'],
  }),
  intents: tableOf('intent', shape.intents, {
    order: 'sent_at_ms, op_id',
    flags: ['mayStillLand'],
    json: ['create'],
    names: { create: 'creation' },
  }),
  runs: tableOf('run', shape.runs, {
    order: 'started_at DESC, rowid DESC',
    flags: ['isHistoryRewritten'],
    json: ['counts'],
    names: { trigger: 'cause', isHistoryRewritten: 'history_rewritten' },
  }),
  events: tableOf('event', shape.events, { order: 'seq DESC' }),
  suspensions: tableOf('suspension', shape.suspensions, { order: 'scope' }),
  approvals: tableOf('approval', shape.approvals, { order: 'at' }),
  syncRequests: tableOf('sync_request', shape.syncRequests, { order: 'at' }),
  historyAcknowledgements: tableOf('history_acknowledgement', shape.historyAcknowledgements, { order: 'at' }),
}

/** The table `name` for the records of `list`. */
function tableOf<Item extends z.ZodObject>(
  name: string,
  list: z.ZodArray<Item>,
  { order, flags = [], json = [], names = {} }: Table,
) {
  const columns = Object.keys(list.element.shape).map((field) => ({
    field,
    column: names[field] ?? field.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
    form: flags.includes(field) ? 'flag' : json.includes(field) ? 'json' : 'plain',
  }))
  const all = columns.map(({ column }) => column)
  const select = `SELECT ${all.join(', ')} FROM ${name} ORDER BY ${order} LIMIT ?`
  return {
    name,
    /** The first `most` records, -1 for all. Throws a ZodError for an invalid row. */
    records: (prepare: Prepare, most = -1) =>
      prepare(select)
        .all(most)
        .map((row) => {
          const values = columns.map(({ field, column, form }) => [
            field,
            read(Reflect.get(Object(row), column), form),
          ])
          return list.element.parse(Object.fromEntries(values))
        }),
    /** The row of `record`, for `put`. Pure. */
    row: (record: object): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        columns.map(({ field, column, form }) => [column, written(Reflect.get(record, field), form)]),
      ),
    /** The statement that writes a row, in place of one with the same key. */
    put: `INSERT OR REPLACE INTO ${name} (${all.join(', ')}) VALUES (${all.map((one) => `@${one}`).join(', ')})`,
  }
}

function read(value: unknown, form: string): unknown {
  if (form === 'plain' || value === null || value === undefined) return value
  return form === 'flag' ? value === 1 : JSON.parse(String(value))
}

function written(value: unknown, form: string): unknown {
  if (value === undefined || value === null) return null
  if (form === 'plain') return value
  return form === 'flag' ? Number(value) : JSON.stringify(value)
}

const metaRow = z.object({
  state_id: z.string(),
  org_id: z.string().nullable(),
  url: z.string().nullable(),
  source: z.string().nullable(),
})

/** Parses the row of the table `meta`. Throws a ZodError. */
export function metaOf(row: unknown): z.output<typeof metaRow> {
  return metaRow.parse(row)
}

const leaseRow = z.object({
  holder: z.string().nullable(),
  epoch: z.number(),
  renewals: z.number(),
  locks_file: z.union([z.literal(0), z.literal(1)]).transform((value) => value === 1),
})

/** Parses the row of the table `lease`. Throws a ZodError. */
export function leaseOf(row: unknown): z.output<typeof leaseRow> {
  return leaseRow.parse(row)
}
