import type { Command } from 'commander'
import { addDataDir, type DataDirOptions } from './dataDirOption.ts'
import { present, table, type Write } from './output.ts'
import { withExistingStore } from './withStore.ts'

/** Adds `commands`, which lists what the regions were told, in order of publication. */
export function addCommandLog(program: Command, write: Write): void {
  addDataDir(
    program.command('commands').description('list the commands to the regions, in order of publication'),
  ).action(async (options: DataDirOptions) => {
    const commands = await withExistingStore(options.dataDir, (store) => store.listCommands())
    const shown = commands.map(({ type, region, serviceId }) => ({ type, region, service_id: serviceId }))
    const rows = shown.map(({ type, region, service_id }) => [type, region, service_id])
    present(write, options.json, shown, table(['TYPE', 'REGION', 'SERVICE'], rows))
  })
}
