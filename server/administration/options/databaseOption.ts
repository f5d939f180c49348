import { readFileSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { readPrivateOption } from '../../../api/runtime/readPrivateOption.ts'
import { monotonicMs, systemEnvironment } from '../../process/systemEnvironment.ts'
import type { Engine } from '../../store/engine.ts'
import { postgresEngine } from '../../store/postgres/postgresEngine.ts'
import { sqliteEngine } from '../../store/sqlite/sqliteEngine.ts'
import { setting } from './configuration.ts'
import { readGiven } from './readGiven.ts'

/** Location of the data. `addDatabaseFlags` checks that exactly one is given. */
export interface DatabasePlace {
  readonly dataDir?: string | undefined
  readonly database?: string | undefined
  readonly databaseFile?: string | undefined
}

/** Options of a subcommand for every kind of database. */
export interface DatabaseOptions extends DatabasePlace {
  readonly json: boolean
}

/** Adds the flags of DatabaseOptions to `command`. */
export function addDatabase(command: Command): Command {
  return addDatabaseFlags(command).option('--json', 'print JSON', false)
}

/**
 * Adds the flags for the location of the data to `command`, which then requires exactly one of them, unless `isGiven`
 * finds the location in other options.
 */
export function addDatabaseFlags<Options>(
  command: Command,
  isGiven: (options: Options) => boolean = () => false,
): Command {
  return command
    .addOption(setting('--data-dir <dir>', 'data folder').argParser(readGiven))
    .addOption(
      setting(
        '--database <url>',
        'URL of a PostgreSQL database instead of a data folder; visible in the process list',
        'PHAROS_DATABASE_URL',
      )
        .argParser((text) => readPrivateOption(command, '--database', () => readDatabaseUrl(text)))
        .conflicts(['dataDir', 'databaseFile']),
    )
    .addOption(
      setting(
        '--database-file <file>',
        'file that contains the URL of the PostgreSQL database',
        'PHAROS_DATABASE_URL_FILE',
      )
        .argParser((text) => readPrivateOption(command, '--database-file', () => readUrlFile(text)))
        .conflicts('dataDir'),
    )
    .hook('preAction', () => {
      const options = command.opts<DatabasePlace & Options>()
      const { dataDir, database, databaseFile } = options
      if ((dataDir ?? database ?? databaseFile) !== undefined || isGiven(options)) return
      command.error("error: required option '--data-dir <dir>' not specified, nor '--database <url>'", {
        code: 'commander.missingMandatoryOptionValue',
      })
    })
}

/** The URL of the PostgreSQL database that the options name; `undefined` for a data folder. Pure. */
export function databaseUrlOf({ database, databaseFile }: DatabasePlace): string | undefined {
  return database ?? databaseFile
}

/** The location in one argument: a URL, a file that contains one, or a data folder. Throws on an empty argument. */
export function placeGiven(text: string): DatabasePlace {
  if (text === '') throw new Error('must not be empty')
  if (text.includes('://')) return { database: readDatabaseUrl(text) }
  if (statSync(text, { throwIfNoEntry: false })?.isFile() === true) return { databaseFile: readUrlFile(text) }
  return { dataDir: text }
}

/** The engine of a location. A data folder is backed up to `backupFolder`, or into itself, before its schema changes. */
export function engineOf(place: DatabasePlace, backupFolder?: string): Engine {
  const { nowMs } = systemEnvironment
  const url = databaseUrlOf(place)
  return url === undefined
    ? sqliteEngine(place.dataDir ?? '', nowMs, { backupFolder })
    : postgresEngine(url, { nowMs, monotonicMs })
}

/** `text` if it is the URL of a PostgreSQL database. The message does not repeat it: it may contain a password. */
function readDatabaseUrl(text: string): string {
  if (URL.canParse(text) && /^postgres(?:ql)?:$/.test(new URL(text).protocol)) return verifying(text)
  throw new Error('must be a URL such as postgresql://user:password@host/database')
}

/**
 * `url` with `verify-full` in place of the modes that the driver treats like it: for these it prints a warning at each
 * start, and its next major release does not verify the certificate. Pure.
 */
function verifying(url: string): string {
  if (url.includes('uselibpqcompat=true')) return url
  return url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, 'verify-full')
}

function readUrlFile(file: string): string {
  readGiven(file)
  if (file.includes('://')) throw new Error('must be a file that contains the URL')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  return readDatabaseUrl(text.trim())
}
