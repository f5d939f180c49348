import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { RESULTS_FILE } from '../results/file/resultsSchema.ts'
import { copyDatabase } from '../store/sqlite/files/backupDatabase.ts'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { present, type Write } from './text/output.ts'
import { folderEngineOf, withExistingStore } from './withStore.ts'

/** Suffix of the copy of the results. */
const RESULTS_SUFFIX = '.results'

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, write: Write): void {
  addDataDir(program.command('backup').description('copy the database; a server may be running'))
    .requiredOption('--to <file>', 'file to write; it contains no master key')
    .option(
      '--with-results',
      `copy the results as well, to the file with ${RESULTS_SUFFIX} added to its name`,
    )
    .action(async (options: DataDirOptions & { to: string; withResults?: boolean }) => {
      const { dataDir, to, json } = options
      const results = options.withResults === true ? `${to}${RESULTS_SUFFIX}` : undefined
      if (results !== undefined) assertCopyable(join(dataDir, RESULTS_FILE), results)
      const engine = folderEngineOf(dataDir)
      await withExistingStore(engine, () => engine.backupTo(to))
      if (results !== undefined) await copyDatabase(join(dataDir, RESULTS_FILE), results)
      const text = results === undefined ? `wrote ${to}` : `wrote ${to} and ${results}`
      present(write, json, { file: to, ...(results === undefined ? {} : { results }) }, text)
    })
  addDataDir(
    program
      .command('restore')
      .description('create a data folder from a backup, and from its results file if that is beside it'),
  )
    .requiredOption('--from <file>', 'file written by "backup"')
    .action(async (options: DataDirOptions & { from: string }) => {
      await folderEngineOf(options.dataDir).restoreFrom(options.from)
      const results = `${options.from}${RESULTS_SUFFIX}`
      if (existsSync(results)) await copyDatabase(results, join(options.dataDir, RESULTS_FILE))
      const text = `restored ${options.dataDir}; it needs the master key that the original had`
      present(write, options.json, { dataDir: options.dataDir }, text)
    })
}

/** Throws, before anything is written, when there are no results or `file` exists. */
function assertCopyable(source: string, file: string): void {
  if (!existsSync(source)) throw new Error(`there are no results in ${source}: leave out --with-results`)
  if (existsSync(file)) throw new Error(`${file} is already there: name a new file`)
}
