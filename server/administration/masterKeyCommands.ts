import { type Command, Option } from 'commander'
import { defaultKeyFile } from '../secrets/keyring.ts'
import { rotateMasterKey } from '../secrets/rotateMasterKey.ts'
import { systemEnvironment } from '../systemEnvironment.ts'
import { VARIABLES } from './configuration.ts'
import { addDataDir, type DataDirOptions } from './dataDirOption.ts'
import { present, type Write } from './output.ts'
import { withExistingStore } from './withStore.ts'

/** Adds `master-key rotate`. */
export function addMasterKeyCommands(program: Command, write: Write): void {
  const masterKey = program.command('master-key').description('the key that everything sealed depends on')
  addDataDir(
    masterKey.command('rotate').description('seal everything under a new key, also while a server runs'),
  )
    .addOption(
      new Option('--master-key-file <file>', 'file of the master key (default: <data-dir>.master-key)').env(
        VARIABLES.masterKeyFile,
      ),
    )
    .action(async (options: DataDirOptions & { masterKeyFile?: string }) => {
      const { dataDir } = options
      const file = options.masterKeyFile ?? defaultKeyFile(dataDir)
      const rotation = await withExistingStore(dataDir, (store) =>
        rotateMasterKey({ store, file, dataDir, environment: systemEnvironment }),
      )
      const { activeId, rewrapped } = rotation
      const text = `master key ${activeId} is active; ${rewrapped} secrets were put under it`
      present(write, options.json, { master_key_id: activeId, rewrapped }, text)
    })
}
