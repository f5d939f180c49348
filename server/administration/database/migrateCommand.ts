import { type Command, Option } from 'commander'
import { movableResults } from '../../results/moving/movableResults.ts'
import type { Engine } from '../../store/engine.ts'
import { type Move, moveStore } from '../../store/moving/moveStore.ts'
import { PARTS, type Part } from '../../store/moving/portableTables.ts'
import { addDatabaseFlags, type DatabasePlace, engineOf, placeGiven } from '../options/databaseOption.ts'
import { note, present, table } from '../text/output.ts'

/** Shortest interval between progress lines (milliseconds). */
const PROGRESS_MS = 2_000

interface MigrateOptions extends DatabasePlace {
  readonly from?: string
  readonly to?: string
  readonly without: readonly Part[]
  readonly json: boolean
}

/** Adds `migrate`, which migrates the schema or moves all data to another kind of database. */
export function addMigrateCommand(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('bring the schema of the database up to date, or move all data to another database')
  addDatabaseFlags(
    migrate,
    (options: MigrateOptions) => options.from !== undefined || options.to !== undefined,
  )
    .option('--from <place>', 'database to move: a data folder, a PostgreSQL URL, or a file with the URL')
    .option('--to <place>', 'empty database of the other kind to move it to, in the same forms')
    .addOption(new Option('--without <part...>', 'data to leave behind').choices(PARTS).default([], 'none'))
    .option('--json', 'print JSON', false)
    .action((options: MigrateOptions, command: Command) =>
      options.from === undefined && options.to === undefined
        ? migrateSchema(options, command)
        : move(options, command),
    )
}

async function migrateSchema(options: MigrateOptions, command: Command): Promise<void> {
  const engine = engineOf(options)
  const before = (await engine.schemaNow()) ?? 0
  await (await engine.open('administer')).close()
  const { place, schemaVersion } = engine
  const text =
    before === schemaVersion
      ? `${place} has schema ${schemaVersion}: there was nothing to do`
      : `${place} was migrated from schema ${before} to ${schemaVersion}`
  present(command, options.json, { place, from: before, to: schemaVersion }, text)
}

async function move(options: MigrateOptions, command: Command): Promise<void> {
  if (options.from === undefined || options.to === undefined) {
    throw new Error('--from and --to belong together: give both to move data, or none to migrate the schema')
  }
  const [source, target] = [placeOf('--from', options.from), placeOf('--to', options.to)]
  if ((source.dataDir === undefined) === (target.dataDir === undefined)) {
    throw new Error(
      '--from and --to must be a data folder and a PostgreSQL database: use backup and restore for two folders, pg_dump for two databases',
    )
  }
  const [from, to] = [engineOf(source), engineOf(target)]
  let spokenAtMs = performance.now()
  const moved = await moveStore({
    from,
    to,
    without: new Set(options.without),
    results: movableResults,
    onProgress: ({ table: name, done, of }) => {
      if (performance.now() - spokenAtMs < PROGRESS_MS) return
      spokenAtMs = performance.now()
      note(command, `${name}: ${done} of ${of} rows`)
    },
  })
  present(command, options.json, { from: from.place, to: to.place, ...moved }, moveText(from, to, moved))
}

/** The place that a flag names. Throws with the name of the flag. */
function placeOf(flag: string, text: string): DatabasePlace {
  try {
    return placeGiven(text)
  } catch (error) {
    throw new Error(`${flag} ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

function moveText(from: Engine, to: Engine, { moved, left }: Move): string {
  const behind = left.map(({ table: name, rows }) => `left behind: ${name} (${rows} rows)\n`).join('')
  const next = `the same rows are in ${to.place}; ${from.place} is not used any more, and servers need the same master key as before`
  return `${table(moved, { TABLE: 'table', ROWS: 'rows', 'SHA-256': 'sha256' })}\n${behind}${next}`
}
