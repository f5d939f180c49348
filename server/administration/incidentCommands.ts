import { type Command, InvalidArgumentError, Option } from 'commander'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import {
  type AutoIncidentSettings,
  fieldsOf,
  reachableSettings,
  settingsProblem,
  settingsRefusal,
} from '../domain/autoIncidentSettings.ts'
import { setAutoIncidents } from '../domain/serviceChanges.ts'
import { readIncidents } from '../store/shared/readIncidents.ts'
import { servicesOf } from '../store/shared/readServices.ts'
import type { Store } from '../store/store.ts'
import { addDatabase, type DatabaseOptions } from './options/databaseOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase } from './options/withStore.ts'

/** Default settings. */
const DEFAULTS: AutoIncidentSettings = { threshold: 3, windowMinutes: 10 }

interface SettingsOptions extends DatabaseOptions {
  readonly org: string
  readonly threshold: number
  readonly window: number
  readonly off?: boolean
}

interface ServiceOptions extends SettingsOptions {
  readonly service?: string
  readonly all?: boolean
}

/** Adds `service auto-incidents`. The API shows these settings but does not accept them. Contract: Service. */
export function addServiceCommands(program: Command, write: Write): void {
  const service = program
    .command('service')
    .description('settings of services that the API shows but does not accept')
  addSettings(
    addDatabase(service.command('auto-incidents').description('configure automatic incidents of services')),
  )
    .addOption(new Option('--service <id>', 'one service').conflicts('all'))
    .option('--all', 'all services of the organisation')
    .action(async (options: ServiceOptions) => {
      const given = readSettings(options)
      const settingsFor = (service: ServiceResponse) =>
        given === null || options.all !== true ? given : reachableSettings(given, service)
      const services = await inDatabase(options, async (store) => {
        const wanted = await wantedServices(store, options)
        // Checked before the first change, so that either all services change or none.
        for (const service of wanted) assertWithinReach(service, settingsFor(service))
        for (const { id } of wanted) {
          await store.changeService(options.org, id, (current) =>
            setAutoIncidents(current, settingsFor(current.response)),
          )
        }
        return wanted.map((service) => ({ service, settings: settingsFor(service) }))
      })
      const shown = services.map(({ service: { id, name }, settings }) => ({
        id,
        name,
        ...fieldsOf(settings),
      }))
      const rows = services.map(({ service: { id, name }, settings }) => [id, name, sentenceOf(settings)])
      present(write, options.json, { services: shown }, table(['ID', 'NAME', 'AUTOMATIC INCIDENTS'], rows))
    })
}

/** Adds `org auto-incidents` to the group `org`. */
export function addOrgAutoIncidents(org: Command, write: Write): void {
  addSettings(
    addDatabase(
      org.command('auto-incidents').description('configure automatic incidents of services created later'),
    ),
  ).action(async (options: SettingsOptions) => {
    const settings = readSettings(options)
    await inDatabase(options, (store) => store.setDefaultAutoIncidents(options.org, settings))
    present(write, options.json, fieldsOf(settings), `new services: ${sentenceOf(settings)}`)
  })
}

function addSettings(command: Command): Command {
  return command
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .option('--threshold <count>', 'failing rounds of one endpoint', readCount, DEFAULTS.threshold)
    .option('--window <minutes>', 'minutes in which these rounds fail', readCount, DEFAULTS.windowMinutes)
    .addOption(new Option('--off', 'turn automatic incidents off').conflicts(['threshold', 'window']))
}

function readCount(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be a whole number')
}

function readSettings({ threshold, window, off = false }: SettingsOptions): AutoIncidentSettings | null {
  if (off) return null
  const settings = { threshold, windowMinutes: window }
  const problem = settingsProblem(settings)
  if (problem !== undefined) throw new ApiError('invalid', problem)
  return settings
}

async function wantedServices(
  store: Store,
  { org: orgId, service: serviceId, all: isAll = false }: ServiceOptions,
): Promise<readonly ServiceResponse[]> {
  if (!isAll && serviceId === undefined) throw new Error('name a service by --service, or all by --all')
  const services = await servicesOf(store, orgId)
  const wanted = isAll ? services : services.filter(({ id }) => id === serviceId?.toLowerCase())
  if (!isAll && wanted.length === 0) {
    throw new ApiError('not_found', `the organisation has no service ${serviceId}`)
  }
  return wanted
}

function assertWithinReach(service: ServiceResponse, settings: AutoIncidentSettings | null): void {
  const refusal = settings === null ? undefined : settingsRefusal(settings, service)
  if (refusal !== undefined) throw new ApiError('invalid', `${service.name}: ${refusal}`)
}

function sentenceOf(settings: AutoIncidentSettings | null): string {
  if (settings === null) return 'off'
  const { threshold, windowMinutes } = settings
  return `after ${threshold} failing ${threshold === 1 ? 'round' : 'rounds'} within ${windowMinutes} min`
}

interface IncidentsOptions extends DatabaseOptions {
  readonly org: string
  readonly all?: boolean
}

/** Adds `incidents`, which lists the incidents of an organisation with or without a running server. */
export function addIncidentCommands(program: Command, write: Write): void {
  addDatabase(
    program.command('incidents').description('show the open incidents of an organisation, newest first'),
  )
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .option('--all', 'also resolved incidents, after the open ones')
    .action(async ({ json, org, all: isAll = false, ...place }: IncidentsOptions) => {
      const rows = await inDatabase(place, async (store) => {
        const services = await servicesOf(store, org)
        const open = await readIncidents(store, org, 'active')
        const resolved = isAll ? await readIncidents(store, org, 'resolved') : []
        const names = new Map(services.map(({ id, name }) => [id, name]))
        return [...open, ...resolved].map((incident) => incidentRow(incident, names))
      })
      present(write, json, rows, incidentTable(rows))
    })
}

function incidentRow(incident: Incident, names: ReadonlyMap<string, string>) {
  const { id, display_id, title, status, severity, auto_managed, created_at, resolved_at } = incident
  return {
    ...{ id, display_id, title, status, severity, auto_managed, started_at: created_at, resolved_at },
    // The name of a deleted service is not known any more.
    services: incident.service_ids.map((each) => ({ id: each, name: names.get(each) ?? null })),
  }
}

function incidentTable(rows: readonly ReturnType<typeof incidentRow>[]): string {
  const cells = rows.map(({ id, display_id, status, severity, started_at, services, title }) => [
    id,
    display_id,
    status,
    severity,
    started_at,
    services.map((service) => service.name ?? service.id).join(', '),
    title,
  ])
  return table(['ID', 'INCIDENT', 'STATUS', 'SEVERITY', 'STARTED', 'SERVICES', 'TITLE'], cells)
}
