import { type Command, Option } from 'commander'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addOrgAutoIncidents } from './autoIncidentCommands.ts'
import { addDataDir, type DataDirOptions } from './options/dataDirOption.ts'
import { present, table, type Write } from './output.ts'
import { readableOption } from './options/readableOption.ts'
import { engineOf, withExistingStore, withStore } from './withStore.ts'

/** Longest name of an organisation (code points). Gap G35. */
const NAME_CHARS_MAX = 200

/** Adds `org create`, `org list` and `org auto-incidents`. */
export function addOrgCommands(program: Command, write: Write): void {
  const org = program.command('org').description('organisations')
  addDataDir(org.command('create').description('create an organisation'))
    .requiredOption('--name <name>', 'name of the organisation', readableOption(NAME_CHARS_MAX))
    .addOption(
      new Option('--plan <plan>', 'plan of the organisation; "plan list" shows all').default('business'),
    )
    .action(async (options: DataDirOptions & { name: string; plan: string }) => {
      const id = systemEnvironment.uuid()
      await withStore(engineOf(options.dataDir), (store) =>
        store.createOrg({ id, name: options.name, plan: options.plan, nowMs: systemEnvironment.nowMs() }),
      )
      present(write, options.json, { id }, id)
    })
  addDataDir(org.command('list').description('list organisations')).action(
    async (options: DataDirOptions) => {
      const orgs = await withExistingStore(engineOf(options.dataDir), (store) => store.listOrgs())
      const rows = orgs.map(({ id, name, plan, createdAt }) => [id, name, plan, createdAt])
      present(write, options.json, orgs, table(['ID', 'NAME', 'PLAN', 'CREATED'], rows))
    },
  )
  addOrgAutoIncidents(org, write)
}
