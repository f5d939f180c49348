import * as z from 'zod'
import { stateDocumentSchema } from '../model/record.ts'

/** Values of a row by column. */
type Row = Readonly<Record<string, unknown>>

/** Mapping of columns besides the schema of the records. */
interface Columns {
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
    flags: ['paused', 'protect'],
    json: ['desired', 'observed', 'heals'],
  }),
  intents: tableOf('intent', shape.intents, {
    flags: ['mayStillLand'],
    json: ['create'],
    names: { create: 'creation' },
  }),
  runs: tableOf('run', shape.runs, {
    flags: ['isHistoryRewritten'],
    json: ['counts'],
    names: { trigger: 'cause', isHistoryRewritten: 'history_rewritten' },
  }),
  events: tableOf('event', shape.events),
  suspensions: tableOf('suspension', shape.suspensions),
  approvals: tableOf('approval', shape.approvals),
  syncRequests: tableOf('sync_request', shape.syncRequests),
  historyAcknowledgements: tableOf('history_acknowledgement', shape.historyAcknowledgements),
}

/** The table `name` for the records of `list`. */
function tableOf<Item extends z.ZodObject>(
  name: string,
  list: z.ZodArray<Item>,
  { flags = [], json = [], names = {} }: Columns = {},
) {
  const columns = Object.keys(list.element.shape).map((field) => ({
    field,
    column: names[field] ?? field.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
    form: flags.includes(field) ? 'flag' : json.includes(field) ? 'json' : 'plain',
  }))
  return {
    name,
    /** The records in `rows`. Throws a ZodError for an invalid row. */
    records: (rows: readonly unknown[]) =>
      rows.map((row) => {
        const values = columns.map(({ field, column, form }) => [
          field,
          read(Reflect.get(Object(row), column), form),
        ])
        return list.element.parse(Object.fromEntries(values))
      }),
    /** The row of `record`, with `more` columns without a field. Pure. */
    row: (record: object, more: Row = {}): Row => {
      const values = columns.map(({ field, column, form }) => [
        column,
        written(Reflect.get(record, field), form),
      ])
      return { ...Object.fromEntries(values), ...more }
    },
    /** The statement that inserts a row with `more` columns. Pure. */
    insert: (verb: 'INSERT' | 'INSERT OR REPLACE', ...more: readonly string[]): string => {
      const all = [...columns.map(({ column }) => column), ...more]
      return `${verb} INTO ${name} (${all.join(', ')}) VALUES (${all.map((one) => `@${one}`).join(', ')})`
    },
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
