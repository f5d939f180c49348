import type { Command } from 'commander'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addOrgAutoIncidents } from './incidentCommands.ts'
import { assertOrg } from '../store/shared/readServices.ts'
import { databaseCommand, inStore, listed, type OrgOptions, orgCommand } from './options/databaseCommand.ts'
import { type DatabaseOptions, engineOf } from './options/databaseOption.ts'
import { readableOption } from './options/readableOption.ts'
import { withStore } from './options/withStore.ts'
import { present, table } from './text/output.ts'

/** Longest name of an organisation (code points). Gap G35. */
const NAME_CHARS_MAX = 200
/** Default and largest number of listed audit entries. */
const SHOWN_COUNT = 100
const SHOWN_COUNT_MAX = 10_000

/** Adds `org create`, `org list` and `org auto-incidents`. */
export function addOrgCommands(program: Command): void {
  const org = program.command('org').description('organisations')
  databaseCommand(org, 'create', 'create an organisation')
    .requiredOption('--name <name>', 'name of the organisation', readableOption(NAME_CHARS_MAX))
    .option('--plan <plan>', 'plan of the organisation; "plan list" shows all', 'business')
    .action(async (options: DatabaseOptions & { name: string; plan: string }, command: Command) => {
      const { name, plan } = options
      const id = systemEnvironment.uuid()
      const nowMs = systemEnvironment.nowMs()
      // Also creates the database.
      await withStore(engineOf(options), (store) => store.createOrg({ id, name, plan, nowMs }))
      present(command, options.json, { id }, id)
    })
  databaseCommand(org, 'list', 'list organisations').action(
    inStore(async (store) =>
      listed(await store.listOrgs(), { ID: 'id', NAME: 'name', PLAN: 'plan', CREATED: 'createdAt' }),
    ),
  )
  addOrgAutoIncidents(org)
}

/** Adds `audit list`. */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the audit log')
  orgCommand(audit, 'list', 'list who changed what in an organisation, newest first')
    .option('--limit <count>', 'maximum number of entries', wholeNumber(1, SHOWN_COUNT_MAX), SHOWN_COUNT)
    .action(
      inStore(async (store, { org, limit }: OrgOptions & { readonly limit: number }) => {
        await assertOrg(store, org)
        const entries = await store.listAudit(org, limit)
        const value = entries.map(({ actorKind, targetKind, targetId, ...entry }) => ({
          ...entry,
          ...{ actor_kind: actorKind, target_kind: targetKind, target_id: targetId },
        }))
        const text = table(entries, {
          AT: 'at',
          ACTOR: ({ actorKind, actor }) => (actor === null ? actorKind : `${actorKind} ${actor}`),
          ACTION: 'action',
          TARGET: 'targetId',
          DETAIL: ({ detail }) => JSON.stringify(detail),
        })
        return { value, text }
      }),
    )
}
