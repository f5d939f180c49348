import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { RESULTS_FILE } from '../results/file/resultsSchema.ts'
import { assertUndamaged } from '../store/sqlite/files/assertUndamaged.ts'
import { copyDatabase } from '../store/sqlite/files/backupDatabase.ts'
import { databaseCommand } from './options/databaseCommand.ts'
import { type DatabaseOptions, databaseUrlOf } from './options/databaseOption.ts'
import { folderEngineOf, withExistingStore } from './options/withStore.ts'
import { present } from './text/output.ts'

/** Suffix of the copy of the results. */
const RESULTS_SUFFIX = '.results'

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command): void {
  databaseCommand(program, 'backup', 'copy the database; a server may be running')
    .requiredOption('--to <file>', 'file to write; it contains no master key')
    .option(
      '--with-results',
      `copy the results as well, to the file with ${RESULTS_SUFFIX} added to its name`,
    )
    .action(async (options: DatabaseOptions & { to: string; withResults?: boolean }, command: Command) => {
      const { to, json } = options
      const dataDir = folderOf(
        options,
        'back it up with pg_dump, or with pgBackRest or another archive of its log',
      )
      const results = options.withResults === true ? `${to}${RESULTS_SUFFIX}` : undefined
      if (results !== undefined) assertCopyable(join(dataDir, RESULTS_FILE), results)
      const engine = folderEngineOf(dataDir)
      await withExistingStore(engine, () => engine.backupTo(to))
      if (results !== undefined) await copyDatabase(join(dataDir, RESULTS_FILE), results)
      const text = results === undefined ? `wrote ${to}` : `wrote ${to} and ${results}`
      present(command, json, { file: to, ...(results === undefined ? {} : { results }) }, text)
    })
  databaseCommand(
    program,
    'restore',
    'create a data folder from a backup, and from its results file if that is beside it',
  )
    .requiredOption('--from <file>', 'file written by "backup"')
    .action(async (options: DatabaseOptions & { from: string }, command: Command) => {
      const dataDir = folderOf(
        options,
        'restore it with pg_restore, or restore into a folder and use "migrate --from"',
      )
      const results = `${options.from}${RESULTS_SUFFIX}`
      const hasResults = existsSync(results)
      if (hasResults) await assertUndamaged(results, 'remove it to restore without results')
      await folderEngineOf(dataDir).restoreFrom(options.from)
      if (hasResults) await copyDatabase(results, join(dataDir, RESULTS_FILE))
      const text = `restored ${dataDir}; it needs the master key that the original had`
      present(command, options.json, { dataDir }, text)
    })
}

/** The data folder that the options name. Throws with `remedy` for a PostgreSQL database. */
function folderOf(options: DatabaseOptions, remedy: string): string {
  if (databaseUrlOf(options) === undefined) return options.dataDir ?? ''
  throw new Error(`this command is for data folders. A PostgreSQL database: ${remedy}`)
}

/** Throws, before anything is written, when there are no results or `file` exists. */
function assertCopyable(source: string, file: string): void {
  if (!existsSync(source)) throw new Error(`there are no results in ${source}: leave out --with-results`)
  if (existsSync(file)) throw new Error(`${file} already exists: name a new file`)
}
