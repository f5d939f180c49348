import type { Command } from 'commander'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { present, type Write } from './output.ts'
import { engineOf, withExistingStore } from './withStore.ts'

/** Adds `backup` and `restore`. */
export function addBackupCommands(program: Command, write: Write): void {
  addDataDir(program.command('backup').description('copy the database; a server may be running'))
    .requiredOption('--to <file>', 'file to write; it contains no master key')
    .action(async (options: DataDirOptions & { to: string }) => {
      const engine = engineOf(options.dataDir)
      await withExistingStore(engine, () => engine.backupTo(options.to))
      present(write, options.json, { file: options.to }, `wrote ${options.to}`)
    })
  addDataDir(program.command('restore').description('create a data folder from a backup'))
    .requiredOption('--from <file>', 'file written by "backup"')
    .action(async (options: DataDirOptions & { from: string }) => {
      await engineOf(options.dataDir).restoreFrom(options.from)
      const text = `restored ${options.dataDir}; it needs the master key that the original had`
      present(write, options.json, { dataDir: options.dataDir }, text)
    })
}
