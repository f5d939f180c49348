import { type Command, Option } from 'commander'
import { shownAgentToken } from '../agents/agentStates.ts'
import { isRegionCode, REGIONS } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { REGION_MODES, type RegionMode } from '../store/monitoringStore.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Adds `region list` and `region set`. A running server follows within a second. */
export function addRegionCommands(program: Command, write: Write): void {
  const region = program.command('region').description('where the checks of each region run')
  addDatabase(region.command('list').description('list the regions and where their checks run')).action(
    async ({ json, ...place }: DatabaseOptions) => {
      const { modes, stored } = await inDatabase(place, async (store) => ({
        modes: await store.regionModes(),
        stored: await store.listAgentTokens(),
      }))
      const tokens = stored.map((token) => shownAgentToken(token, systemEnvironment.nowMs()))
      const rows = REGIONS.map(({ code, city }) => {
        const own = tokens.filter(({ region }) => region === code)
        const agents = own.reduce((sum, token) => sum + token.agents, 0)
        const lastSeenAt =
          own
            .flatMap((token) => token.lastSeenAt ?? [])
            .toSorted()
            .at(-1) ?? null
        return { code, city, mode: modes.get(code) ?? ('embedded' as const), agents, lastSeenAt }
      })
      const cells = rows.map(({ code, city, mode, agents, lastSeenAt }) => [
        ...[code, city, mode, placeOf(mode, city), mode === 'remote' ? String(agents) : '-'],
        lastSeenAt ?? '-',
      ])
      present(
        write,
        json,
        rows,
        table(['REGION', 'CITY', 'MODE', 'CHECKED FROM', 'AGENTS', 'AGENT LAST SEEN'], cells),
      )
    },
  )
  addDatabase(region.command('set').description('set where the checks of a region run'))
    .argument('<code>', 'region')
    .addOption(
      new Option('--mode <mode>', 'embedded: this server; remote: agents on other machines; off: no checks')
        .choices([...REGION_MODES])
        .makeOptionMandatory(),
    )
    .action(
      async (code: string, { json, mode, ...place }: DatabaseOptions & { readonly mode: RegionMode }) => {
        if (!isRegionCode(code)) {
          throw new Error(`there is no region ${code}: "pharos-server region list" shows them`)
        }
        await inDatabase(place, (store) => store.setRegionMode(code, mode))
        present(write, json, { code, mode }, `${code} is ${mode}`)
      },
    )
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
