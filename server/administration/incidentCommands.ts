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
import { inStore, listed, type OrgOptions, orgCommand, printFromStore } from './options/databaseCommand.ts'
import { table } from './text/output.ts'

/** Default settings. */
const DEFAULTS: AutoIncidentSettings = { threshold: 3, windowMinutes: 10 }

interface SettingsOptions extends OrgOptions {
  readonly threshold: number
  readonly window: number
  readonly off?: boolean
}

interface ServiceOptions extends SettingsOptions {
  readonly service?: string
  readonly all?: boolean
}

/** Adds `service auto-incidents`. The API shows these settings but does not accept them. Contract: Service. */
export function addServiceCommands(program: Command): void {
  const service = program
    .command('service')
    .description('settings of services that the API shows but does not accept')
  settingsCommand(service, 'configure automatic incidents of services')
    .addOption(new Option('--service <id>', 'one service').conflicts('all'))
    .option('--all', 'all services of the organisation')
    .action(async (options: ServiceOptions, command: Command) => {
      const given = readSettings(options)
      await printFromStore(options, command, async (store) => {
        const settingsFor = (service: ServiceResponse) =>
          given === null || options.all !== true ? given : reachableSettings(given, service)
        const services = (await wantedServices(store, options)).map((service) => ({
          service,
          settings: settingsFor(service),
        }))
        // Checked before the first change, so that either all services change or none.
        for (const { service, settings } of services) assertWithinReach(service, settings)
        for (const { service } of services) {
          // A request may have changed the service meanwhile.
          await store.changeService(options.org, service.id, (current) =>
            setAutoIncidents(current, settingsFor(current.response)),
          )
        }
        const value = services.map(({ service: { id, name }, settings }) => ({
          ...{ id, name },
          ...fieldsOf(settings),
        }))
        const text = table(services, {
          ID: ({ service: { id } }) => id,
          NAME: ({ service: { name } }) => name,
          'AUTOMATIC INCIDENTS': ({ settings }) => sentenceOf(settings),
        })
        return { value: { services: value }, text }
      })
    })
}

/** Adds `org auto-incidents` to the group `org`. */
export function addOrgAutoIncidents(org: Command): void {
  settingsCommand(org, 'configure automatic incidents of services created later').action(
    async (options: SettingsOptions, command: Command) => {
      const settings = readSettings(options)
      await printFromStore(options, command, async (store) => {
        await store.setDefaultAutoIncidents(options.org, settings)
        return { value: fieldsOf(settings), text: `new services: ${sentenceOf(settings)}` }
      })
    },
  )
}

function settingsCommand(parent: Command, description: string): Command {
  return orgCommand(parent, 'auto-incidents', description)
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

/** Adds `incidents`, which lists the incidents of an organisation with or without a running server. */
export function addIncidentCommands(program: Command): void {
  orgCommand(program, 'incidents', 'show the open incidents of an organisation, newest first')
    .option('--all', 'also resolved incidents, after the open ones')
    .action(
      inStore(async (store, { org, all: isAll = false }: OrgOptions & { readonly all?: boolean }) => {
        const services = await servicesOf(store, org)
        const open = await readIncidents(store, org, 'active')
        const resolved = isAll ? await readIncidents(store, org, 'resolved') : []
        const names = new Map(services.map(({ id, name }) => [id, name]))
        const value = [...open, ...resolved].map((incident) => incidentRow(incident, names))
        return listed(value, {
          ID: 'id',
          INCIDENT: 'display_id',
          STATUS: 'status',
          SEVERITY: 'severity',
          STARTED: 'started_at',
          SERVICES: (row) => row.services.map(({ id, name }) => name ?? id).join(', '),
          TITLE: 'title',
        })
      }),
    )
}

function incidentRow(incident: Incident, names: ReadonlyMap<string, string>) {
  const { id, display_id, title, status, severity, auto_managed, created_at, resolved_at } = incident
  return {
    ...{ id, display_id, title, status, severity, auto_managed, started_at: created_at, resolved_at },
    // The name of a deleted service is not known any more.
    services: incident.service_ids.map((each) => ({ id: each, name: names.get(each) ?? null })),
  }
}
