import type { Command } from 'commander'
import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { wholeNumber } from '../../monitoring/program/wholeNumber.ts'
import { timestamp } from '../domain/environment.ts'
import { RESULTS_DAYS_MAX } from '../domain/planLimits.ts'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { PHASES, type ServiceNow, type ServiceResult } from '../results/measurements/measurements.ts'
import { withMeasurements } from '../results/resultsReader.ts'
import type { Engine } from '../store/engine.ts'
import { readIncidents } from '../store/shared/readIncidents.ts'
import { servicesOf } from '../store/shared/readServices.ts'
import type { ServiceGeneration } from '../store/store.ts'
import { addDatabase, type DatabaseOptions, engineOf } from './options/databaseOption.ts'
import { present, table, type Write } from './text/output.ts'
import { inDatabase, withExistingStore } from './options/withStore.ts'

const HOUR_S = 60 * 60
/** Default and largest number of hours of `results`. */
const HOURS = 24
const HOURS_MAX = RESULTS_DAYS_MAX * 24

/** Adds `states`, `results` and `generations`, which read the database with or without a running server. */
export function addResultCommands(program: Command, write: Write): void {
  addDatabase(program.command('states').description('show the states of the services of an organisation'))
    .requiredOption('--org <id>', 'id of the organisation, which "org list" shows')
    .action(async ({ json, org, ...place }: DatabaseOptions & { readonly org: string }) => {
      const nowMs = systemEnvironment.nowMs()
      const engine = engineOf(place)
      const { services, maintenance, incidents } = await shownServices(engine, org, nowMs)
      const nowS = Math.floor(nowMs / 1_000)
      const states = await withMeasurements(engine.results, nowS, (measurements) => measurements.states(org))
      const byId = new Map((states ?? []).map((state) => [state.id, state]))
      const rows = services.map((service) =>
        stateRow(service, byId.get(service.id), maintenance.get(service.id)),
      )
      present(write, json, rows, stateTable(rows, incidents))
    })
  addDatabase(program.command('results').description('show the check results of a service, newest first'))
    .requiredOption('--service <id>', 'id of the service')
    .option('--hours <count>', 'time span (hours)', wholeNumber(1, HOURS_MAX), HOURS)
    .option('--failed', 'only results other than up')
    .action(async (options: ResultsOptions) => {
      const { json, service: serviceId, hours, failed: isFailedOnly = false, ...place } = options
      const engine = engineOf(place)
      const nowS = Math.floor(systemEnvironment.nowMs() / 1_000)
      const known = await withExistingStore(engine, (store) => store.definitionOf(serviceId))
      if (known === undefined) throw serviceNotFound(serviceId)
      const query = { serviceId, fromS: nowS - hours * HOUR_S, isFailedOnly, limit: Number.POSITIVE_INFINITY }
      const results = await withMeasurements(engine.results, nowS, (measurements) =>
        measurements.results(query),
      )
      const rows = (results ?? []).map(resultRow)
      present(write, json, { results: rows }, resultTable(rows))
    })
  addDatabase(
    program
      .command('generations')
      .description('show the changes of a service and their origin, newest first'),
  )
    .requiredOption('--service <id>', 'id of the service, which may be deleted')
    .action(async ({ json, service, ...place }: DatabaseOptions & { readonly service: string }) => {
      const found = await inDatabase(place, (store) => store.generationsOf(service))
      if (found.length === 0) throw serviceNotFound(service)
      const rows = found.map(generationRow)
      present(write, json, { generations: rows }, generationTable(rows))
    })
}

interface ResultsOptions extends DatabaseOptions {
  readonly service: string
  readonly hours: number
  readonly failed?: boolean
}

/**
 * The services of an organisation, with the start of current maintenance and open incidents. Rejects when there is no
 * such organisation.
 */
function shownServices(engine: Engine, orgId: string, nowMs: number) {
  return withExistingStore(engine, async (store) => {
    const services = await servicesOf(store, orgId)
    const now = timestamp(nowMs)
    const windows = (await store.listMaintenance(orgId, { endsAfter: now })).filter(
      ({ startsAt }) => startsAt <= now,
    )
    const open = await readIncidents(store, orgId, 'active')
    return {
      incidents: byService(open),
      services,
      // Of overlapping windows, the first to begin counts.
      maintenance: new Map(
        windows.toReversed().flatMap(({ serviceIds, startsAt }) => serviceIds.map((id) => [id, startsAt])),
      ),
    }
  })
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

function stateTable(
  rows: readonly ReturnType<typeof stateRow>[],
  incidents: ReadonlyMap<string, readonly Incident[]>,
): string {
  const cells = rows.map(({ service_id, name, state, since, reasons }) => [
    service_id,
    name,
    state,
    since,
    (incidents.get(service_id) ?? []).map(({ display_id }) => display_id).join(', ') || '-',
    shownReason(reasons),
  ])
  return table(['ID', 'NAME', 'STATE', 'SINCE', 'INCIDENT', 'REASON'], cells)
}

function shownReason([first, ...others]: ReturnType<typeof stateRow>['reasons']): string {
  if (first === undefined) return '-'
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`
  return `${first.region}: ${first.text}${more}`
}

function resultRow({ atS, region, endpointId, outcome, reason, status, attempts, phases }: ServiceResult) {
  const phases_ms = Object.fromEntries(PHASES.map((phase) => [phase, phases[phase] / 1_000]))
  return { at: instant(atS), region, endpoint_id: endpointId, outcome, reason, status, attempts, phases_ms }
}

function resultTable(rows: readonly ReturnType<typeof resultRow>[]): string {
  const cells = rows.map(({ at, region, endpoint_id, outcome, reason, status, phases_ms }) => [
    at,
    region,
    endpoint_id,
    outcome,
    reason === 'none' ? '-' : reason,
    status === null ? '-' : String(status),
    String(phases_ms.total ?? 0),
  ])
  return table(['AT', 'REGION', 'ENDPOINT', 'OUTCOME', 'REASON', 'STATUS', 'TOTAL MS'], cells)
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

function generationTable(rows: readonly ReturnType<typeof generationRow>[]): string {
  const cells = rows.map(({ generation, at, key_id, tool, tool_version, repository, commit, path }) => [
    String(generation),
    at ?? '-',
    [tool, tool_version].filter((part) => part !== null).join('/') || '-',
    key_id ?? '-',
    [repository, commit, path].filter((part) => part !== null).join(' ') || '-',
  ])
  return table(['GENERATION', 'AT', 'TOOL', 'KEY', 'ORIGIN'], cells)
}
