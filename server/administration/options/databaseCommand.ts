import type { Command } from 'commander'
import type { Store } from '../../store/store.ts'
import { type Columns, present, table } from '../text/output.ts'
import { addDatabase, type DatabaseOptions } from './databaseOption.ts'
import { inDatabase } from './withStore.ts'

/** Options of a command about an organisation. */
export interface OrgOptions extends DatabaseOptions {
  readonly org: string
}

/** What a command prints: `value` with --json, `text` without. */
export interface Printed {
  readonly value: unknown
  readonly text: string
}

/** Prints `rows`: as they are with --json, as a table of `columns` without. Pure. */
export function listed<Row>(rows: readonly Row[], columns: Columns<Row>): Printed {
  return { value: rows, text: table(rows, columns) }
}

/** Adds the command `name`, which works on a database, to `parent`. */
export function databaseCommand(parent: Command, name: string, description: string): Command {
  return addDatabase(parent.command(name).description(description))
}

/** As `databaseCommand`, for a command about an organisation. */
export function orgCommand(parent: Command, name: string, description: string): Command {
  return databaseCommand(parent, name, description).requiredOption(
    '--org <id>',
    'id of the organisation, which "org list" shows',
  )
}

/** The action of a command that runs `work` on the store of an existing database, and prints what it resolves to. */
export function inStore<Options extends DatabaseOptions = DatabaseOptions>(
  work: (store: Store, options: Options, command: Command) => Promise<Printed>,
) {
  return (options: Options, command: Command): Promise<void> =>
    printFromStore(options, command, (store) => work(store, options, command))
}

/** As `inStore`, for an action that first checks its options: a wrong one must not open, and migrate, the database. */
export async function printFromStore(
  options: DatabaseOptions,
  command: Command,
  work: (store: Store) => Promise<Printed>,
): Promise<void> {
  const { value, text } = await inDatabase(options, work)
  present(command, options.json, value, text)
}
