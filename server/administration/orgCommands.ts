import { type Command, Option } from 'commander'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addOrgAutoIncidents } from './incidentCommands.ts'
import { assertOrg } from '../store/shared/readServices.ts'
import { addDatabase, type DatabaseOptions, engineOf } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase, withStore } from './options/withStore.ts'

/** Longest name of an organisation (code points). Gap G35. */
const NAME_CHARS_MAX = 200
/** Default and largest number of listed audit entries. */
const SHOWN_COUNT = 100
const SHOWN_COUNT_MAX = 10_000

/** Adds `org create`, `org list` and `org auto-incidents`. */
export function addOrgCommands(program: Command, write: Write): void {
  const org = program.command('org').description('organisations')
  addDatabase(org.command('create').description('create an organisation'))
    .requiredOption('--name <name>', 'name of the organisation', readableOption(NAME_CHARS_MAX))
    .addOption(
      new Option('--plan <plan>', 'plan of the organisation; "plan list" shows all').default('business'),
    )
    .action(async (options: DatabaseOptions & { name: string; plan: string }) => {
      const id = systemEnvironment.uuid()
      await withStore(engineOf(options), (store) =>
        store.createOrg({ id, name: options.name, plan: options.plan, nowMs: systemEnvironment.nowMs() }),
      )
      present(write, options.json, { id }, id)
    })
  addDatabase(org.command('list').description('list organisations')).action(
    async (options: DatabaseOptions) => {
      const orgs = await inDatabase(options, (store) => store.listOrgs())
      const rows = orgs.map(({ id, name, plan, createdAt }) => [id, name, plan, createdAt])
      present(write, options.json, orgs, table(['ID', 'NAME', 'PLAN', 'CREATED'], rows))
    },
  )
  addOrgAutoIncidents(org, write)
}

/** Adds `audit list`. */
export function addAuditCommands(program: Command, write: Write): void {
  const audit = program.command('audit').description('the audit log')
  addDatabase(audit.command('list').description('list who changed what in an organisation, newest first'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .option('--limit <count>', 'maximum number of entries', wholeNumber(1, SHOWN_COUNT_MAX), SHOWN_COUNT)
    .action(async ({ json, org, limit, ...place }: DatabaseOptions & { org: string; limit: number }) => {
      const entries = await inDatabase(place, async (store) => {
        await assertOrg(store, org)
        return store.listAudit(org, limit)
      })
      const shown = entries.map(({ actorKind, targetKind, targetId, ...entry }) => ({
        ...entry,
        ...{ actor_kind: actorKind, target_kind: targetKind, target_id: targetId },
      }))
      const rows = entries.map(({ at, actorKind, actor, action, targetId, detail }) => [
        ...[at, actor === null ? actorKind : `${actorKind} ${actor}`, action, targetId],
        JSON.stringify(detail),
      ])
      present(write, json, shown, table(['AT', 'ACTOR', 'ACTION', 'TARGET', 'DETAIL'], rows))
    })
}
