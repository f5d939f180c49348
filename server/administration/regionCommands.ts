import { type Command, Option } from 'commander'
import { isRegionCode, REGIONS } from '../domain/regions.ts'
import { REGION_MODES, type RegionMode } from '../store/monitoringStore.ts'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { present, table, type Write } from './output.ts'
import { engineOf, withExistingStore } from './withStore.ts'

/** Adds `region list` and `region set`. A running server follows within a second. */
export function addRegionCommands(program: Command, write: Write): void {
  const region = program.command('region').description('where the checks of each region run')
  addDataDir(region.command('list').description('list the regions, and where each is checked from')).action(
    async ({ dataDir, json }: DataDirOptions) => {
      const modes = await withExistingStore(engineOf(dataDir), (store) => store.regionModes())
      const rows = REGIONS.map(({ code, city }) => ({ code, city, mode: modes.get(code) ?? 'embedded' }))
      const cells = rows.map(({ code, city, mode }) => [code, city, mode, placeOf(mode, city)])
      present(write, json, rows, table(['REGION', 'CITY', 'MODE', 'CHECKED FROM'], cells))
    },
  )
  addDataDir(region.command('set').description('say where a region is checked from'))
    .argument('<code>', 'region')
    .addOption(
      new Option('--mode <mode>', 'embedded: this server; remote: agents on other machines; off: no checks')
        .choices([...REGION_MODES])
        .makeOptionMandatory(),
    )
    .action(async (code: string, { dataDir, json, mode }: DataDirOptions & { readonly mode: RegionMode }) => {
      if (!isRegionCode(code)) {
        throw new Error(`there is no region ${code}: "pharos-server region list" shows them`)
      }
      await withExistingStore(engineOf(dataDir), (store) => store.setRegionMode(code, mode))
      present(write, json, { code, mode }, `${code} is ${mode}`)
    })
}

function placeOf(mode: RegionMode, city: string): string {
  switch (mode) {
    case 'embedded':
      return `the server's own machine, not ${city}`
    case 'remote':
      return 'agents of its own'
    case 'off':
      return 'nowhere'
  }
}
