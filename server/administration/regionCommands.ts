import { type Command, Option } from 'commander'
import { shownAgentToken } from '../agents/agentStates.ts'
import { isRegionCode, REGIONS } from '../domain/regions.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { REGION_MODES, type RegionMode } from '../store/monitoringStore.ts'
import { databaseCommand, inStore, listed, printFromStore } from './options/databaseCommand.ts'
import type { DatabaseOptions } from './options/databaseOption.ts'

/** Adds `region list` and `region set`. A running server follows within a second. */
export function addRegionCommands(program: Command): void {
  const region = program.command('region').description('where the checks of each region run')
  databaseCommand(region, 'list', 'list the regions and where their checks run').action(
    inStore(async (store) => {
      const modes = await store.regionModes()
      const nowMs = systemEnvironment.nowMs()
      const tokens = (await store.listAgentTokens()).map((token) => shownAgentToken(token, nowMs))
      const regions = REGIONS.map(({ code, city }) => {
        const own = tokens.filter((token) => token.region === code)
        const agents = own.reduce((sum, token) => sum + token.agents, 0)
        const seenAt = own.flatMap(({ lastSeenAt }) => lastSeenAt ?? []).toSorted()
        const mode: RegionMode = modes.get(code) ?? 'embedded'
        return { code, city, mode, agents, lastSeenAt: seenAt.at(-1) ?? null }
      })
      return listed(regions, {
        REGION: 'code',
        CITY: 'city',
        MODE: 'mode',
        'CHECKED FROM': ({ mode, city }) => placeOf(mode, city),
        AGENTS: ({ mode, agents }) => (mode === 'remote' ? agents : null),
        'AGENT LAST SEEN': 'lastSeenAt',
      })
    }),
  )
  databaseCommand(region, 'set', 'set where the checks of a region run')
    .argument('<code>', 'region')
    .addOption(
      new Option('--mode <mode>', 'embedded: this server; remote: agents on other machines; off: no checks')
        .choices([...REGION_MODES])
        .makeOptionMandatory(),
    )
    .action(async (code: string, options: ModeOptions, command: Command) => {
      const { mode } = options
      if (!isRegionCode(code)) {
        throw new Error(`there is no region ${code}: "pharos-server region list" shows them`)
      }
      await printFromStore(options, command, async (store) => {
        await store.setRegionMode(code, mode)
        return { value: { code, mode }, text: `${code} is ${mode}` }
      })
    })
}

interface ModeOptions extends DatabaseOptions {
  readonly mode: RegionMode
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
