import type { Command } from 'commander'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { timestamp } from '../domain/environment.ts'
import { RESULTS_DAYS_MAX } from '../domain/planLimits.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import {
  type Measurements,
  PHASES,
  type ServiceNow,
  type ServiceResult,
} from '../results/measurements/measurements.ts'
import { withMeasurements } from '../results/resultsReader.ts'
import { readIncidents } from '../store/shared/readIncidents.ts'
import { currentMaintenance, servicesOf } from '../store/shared/readServices.ts'
import type { ServiceGeneration } from '../store/store.ts'
import { databaseCommand, inStore, listed, type OrgOptions, orgCommand } from './options/databaseCommand.ts'
import { type DatabaseOptions, type DatabasePlace, engineOf } from './options/databaseOption.ts'
import { table } from './text/output.ts'

const HOUR_S = 60 * 60
/** Default and largest number of hours of `results`. */
const HOURS = 24
const HOURS_MAX = RESULTS_DAYS_MAX * 24

interface ServiceOptions extends DatabaseOptions {
  readonly service: string
}
interface ResultsOptions extends ServiceOptions {
  readonly hours: number
  readonly failed?: boolean
}

/** Adds `states`, `results` and `generations`, which read the database with or without a running server. */
export function addResultCommands(program: Command): void {
  orgCommand(program, 'states', 'show the states of the services of an organisation').action(
    inStore(async (store, options: OrgOptions) => {
      const { org } = options
      const nowMs = systemEnvironment.nowMs()
      const services = await servicesOf(store, org)
      const maintenance = await currentMaintenance(store, org, nowMs)
      const incidents = byService(await readIncidents(store, org, 'active'))
      const states = await measured(options, nowMs, (measurements) => measurements.states(org))
      const byId = new Map((states ?? []).map((state) => [state.id, state]))
      const value = services.map((service) =>
        stateRow(service, byId.get(service.id), maintenance.get(service.id)),
      )
      return listed(value, {
        ID: 'service_id',
        NAME: 'name',
        STATE: 'state',
        SINCE: 'since',
        INCIDENT: (row) =>
          incidents
            .get(row.service_id)
            ?.map(({ display_id }) => display_id)
            .join(', ') ?? null,
        REASON: ({ reasons }) => shownReason(reasons),
      })
    }),
  )
  databaseCommand(program, 'results', 'show the check results of a service, newest first')
    .requiredOption('--service <id>', 'id of the service')
    .option('--hours <count>', 'time span (hours)', wholeNumber(1, HOURS_MAX), HOURS)
    .option('--failed', 'only results other than up')
    .action(
      inStore(async (store, options: ResultsOptions) => {
        const { service: serviceId, hours, failed: isFailedOnly = false } = options
        const nowMs = systemEnvironment.nowMs()
        if ((await store.definitionOf(serviceId)) === undefined) throw serviceNotFound(serviceId)
        const fromS = Math.floor(nowMs / 1_000) - hours * HOUR_S
        const query = { serviceId, fromS, isFailedOnly, limit: Number.POSITIVE_INFINITY }
        const results = await measured(options, nowMs, (measurements) => measurements.results(query))
        const rows = (results ?? []).map(resultRow)
        const text = table(rows, {
          AT: 'at',
          REGION: 'region',
          ENDPOINT: 'endpoint_id',
          OUTCOME: 'outcome',
          REASON: ({ reason }) => (reason === 'none' ? null : reason),
          STATUS: 'status',
          'TOTAL MS': ({ phases_ms }) => phases_ms.total ?? 0,
        })
        return { value: { results: rows }, text }
      }),
    )
  databaseCommand(program, 'generations', 'show the changes of a service and their origin, newest first')
    .requiredOption('--service <id>', 'id of the service, which may be deleted')
    .action(
      inStore(async (store, { service }: ServiceOptions) => {
        const found = await store.generationsOf(service)
        if (found.length === 0) throw serviceNotFound(service)
        const rows = found.map(generationRow)
        const joined = (parts: readonly (string | null)[], separator: string): string | null =>
          parts.filter((part) => part !== null).join(separator) || null
        const text = table(rows, {
          GENERATION: 'generation',
          AT: 'at',
          TOOL: ({ tool, tool_version }) => joined([tool, tool_version], '/'),
          KEY: 'key_id',
          ORIGIN: ({ repository, commit, path }) => joined([repository, commit, path], ' '),
        })
        return { value: { generations: rows }, text }
      }),
    )
}

/** What `read` reads from the stored results; `undefined` when there are none. */
function measured<Result>(
  place: DatabasePlace,
  nowMs: number,
  read: (measurements: Measurements) => Promise<Result>,
): Promise<Result | undefined> {
  return withMeasurements(engineOf(place).results, Math.floor(nowMs / 1_000), read)
}

function byService(open: readonly Incident[]): ReadonlyMap<string, readonly Incident[]> {
  const incidents = new Map<string, Incident[]>()
  for (const incident of open) {
    for (const id of incident.service_ids) incidents.set(id, [...(incidents.get(id) ?? []), incident])
  }
  return incidents
}

function serviceNotFound(id: string): ApiError {
  return new ApiError(
    'not_found',
    `there is no service ${id}: "pharos-server states" lists those of an organisation`,
  )
}

const instant = (atS: number): string => timestamp(atS * 1_000)

/**
 * The state of a service and its start. A pause takes precedence over maintenance, and maintenance over the measured
 * state.
 */
function stateOf(
  { paused_at, created_at }: ServiceResponse,
  now: ServiceNow | undefined,
  maintenanceSince: string | undefined,
) {
  if (maintenanceSince !== undefined && paused_at == null) {
    return { state: 'maintenance', since: maintenanceSince }
  }
  const state = paused_at != null ? 'paused' : (now?.state ?? 'unknown')
  const isWritten = now !== undefined && now.state === state
  return { state, since: isWritten ? instant(now.sinceS) : (paused_at ?? created_at) }
}

function stateRow(
  service: ServiceResponse,
  now: ServiceNow | undefined,
  maintenanceSince: string | undefined,
) {
  const { id: service_id, name, paused_at } = service
  return {
    ...{ service_id, name, ...stateOf(service, now, maintenanceSince) },
    reasons:
      paused_at != null || now === undefined
        ? []
        : now.reasons.map(({ endpointId, region, reason, text }) => ({
            endpoint_id: endpointId,
            region,
            reason,
            text,
          })),
    last_result_at: now?.lastResultS == null ? null : instant(now.lastResultS),
    certificates: (now?.certificates ?? []).map(({ host, notAfterS, daysLeft }) => ({
      host,
      not_after: instant(notAfterS),
      days_left: daysLeft,
    })),
  }
}

function shownReason([first, ...others]: ReturnType<typeof stateRow>['reasons']): string | null {
  if (first === undefined) return null
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first.region}: ${first.text}${more}`
}

function resultRow({ atS, region, endpointId, outcome, reason, status, attempts, phases }: ServiceResult) {
  const phases_ms = Object.fromEntries(PHASES.map((phase) => [phase, phases[phase] / 1_000]))
  return { at: instant(atS), region, endpoint_id: endpointId, outcome, reason, status, attempts, phases_ms }
}

function generationRow({ generation, untilMs, origin, definition }: ServiceGeneration) {
  return {
    generation,
    at: origin?.at ?? null,
    until: untilMs === null ? null : timestamp(untilMs),
    key_id: origin?.keyId ?? null,
    tool: origin?.tool ?? null,
    tool_version: origin?.toolVersion ?? null,
    repository: origin?.repository ?? null,
    commit: origin?.commit ?? null,
    path: origin?.path ?? null,
    definition: definition === null ? null : JSON.parse(definition),
  }
}
