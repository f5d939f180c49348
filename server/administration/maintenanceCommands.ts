import type { Command } from 'commander'
import { TITLE_CHARS_MAX } from '../../api/contract/incident.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { inStore, listed, type OrgOptions, orgCommand, printFromStore } from './options/databaseCommand.ts'
import { readableOption } from './options/readableOption.ts'
import { readInstant } from './options/readInstant.ts'

interface CreateOptions extends OrgOptions {
  readonly title: string
  readonly service: readonly string[]
  readonly startsAt: string
  readonly endsAt: string
}

/** Adds `maintenance create` and `maintenance list`. The API has no route for them (Gap G6). */
export function addMaintenanceCommands(program: Command): void {
  const maintenance = program.command('maintenance').description('maintenance windows')
  orgCommand(maintenance, 'create', 'schedule a maintenance window')
    .requiredOption('--title <title>', 'title of the maintenance window', readableOption(TITLE_CHARS_MAX))
    .requiredOption('--service <ids...>', 'services that it affects')
    .requiredOption(
      '--starts-at <instant>',
      'ISO 8601 with a zone, such as 2026-03-01T22:00:00Z',
      readTimestamp,
    )
    .requiredOption('--ends-at <instant>', 'ISO 8601 with a zone', readTimestamp)
    .action(async (options: CreateOptions, command: Command) => {
      const { org: orgId, title, service, startsAt, endsAt } = options
      if (endsAt <= startsAt) throw new Error('--ends-at must be after --starts-at')
      const id = systemEnvironment.uuid()
      const serviceIds = [...new Set(service.map((each) => each.toLowerCase()))]
      const wanted = { id, orgId, title, startsAt, endsAt, serviceIds }
      await printFromStore(options, command, async (store) => {
        await store.createMaintenance(wanted, OPERATOR, systemEnvironment.nowMs())
        return { value: { id }, text: id }
      })
    })
  orgCommand(maintenance, 'list', 'list the maintenance windows of an organisation').action(
    inStore(async (store, { org }: OrgOptions) =>
      listed(await store.listMaintenance(org), { ID: 'id', FROM: 'startsAt', TO: 'endsAt', TITLE: 'title' }),
    ),
  )
}

const readTimestamp = (text: string): string => timestamp(readInstant(text))
