import type { Command } from 'commander'
import { TITLE_CHARS_MAX } from '../../api/contract/incident.ts'
import { OPERATOR } from '../domain/accounts/actor.ts'
import { timestamp } from '../domain/environment.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { readInstant } from './options/readInstant.ts'
import { readableOption } from './options/readableOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

interface CreateOptions extends DatabaseOptions {
  readonly org: string
  readonly title: string
  readonly service: readonly string[]
  readonly startsAt: string
  readonly endsAt: string
}

/** Adds `maintenance create` and `maintenance list`. The API has no route for them (Gap G6). */
export function addMaintenanceCommands(program: Command, write: Write): void {
  const maintenance = program.command('maintenance').description('maintenance windows')
  addDatabase(maintenance.command('create').description('schedule a maintenance window'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .requiredOption('--title <title>', 'title of the maintenance window', readableOption(TITLE_CHARS_MAX))
    .requiredOption('--service <ids...>', 'services that it affects')
    .requiredOption(
      '--starts-at <instant>',
      'ISO 8601 with a zone, such as 2026-03-01T22:00:00Z',
      readTimestamp,
    )
    .requiredOption('--ends-at <instant>', 'ISO 8601 with a zone', readTimestamp)
    .action(async (options: CreateOptions) => {
      const { org: orgId, title, startsAt, endsAt } = options
      if (endsAt <= startsAt) throw new Error('--ends-at must be after --starts-at')
      const id = systemEnvironment.uuid()
      const serviceIds = [...new Set(options.service.map((each) => each.toLowerCase()))]
      await inDatabase(options, (store) =>
        store.createMaintenance(
          { id, orgId, title, startsAt, endsAt, serviceIds },
          OPERATOR,
          systemEnvironment.nowMs(),
        ),
      )
      present(write, options.json, { id }, id)
    })
  addDatabase(maintenance.command('list').description('list the maintenance windows of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async (options: DatabaseOptions & { org: string }) => {
      const windows = await inDatabase(options, (store) => store.listMaintenance(options.org))
      const rows = windows.map(({ id, title, startsAt, endsAt }) => [id, startsAt, endsAt, title])
      present(write, options.json, windows, table(['ID', 'FROM', 'TO', 'TITLE'], rows))
    })
}

const readTimestamp = (text: string): string => timestamp(readInstant(text))
