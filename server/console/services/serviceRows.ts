import type { Incident } from '../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { ShownState } from '../../../web/stateShapes.ts'
import { timestamp } from '../../domain/environment.ts'
import type { ServiceNow, StateReason } from '../../results/measurements/measurements.ts'
import { componentState } from '../../statusPages/view/componentState.ts'
import type { ConsoleParts } from '../routing/route.ts'

/** Open incidents that are read: more are not shown beside their services. */
const INCIDENTS_MAX = 100

/** A service as pages show it. */
export interface ServiceRow {
  readonly service: ServiceResponse
  readonly state: ShownState
  /** Since when, in ISO 8601; `null` when that is not known. */
  readonly since: string | null
  readonly reasons: readonly StateReason[]
  /** Its newest open incident. */
  readonly incident: Pick<Incident, 'id' | 'display_id'> | undefined
  /** What its checks say; `undefined` before the first result, and while nothing is measured. */
  readonly now: ServiceNow | undefined
}

type RowParts = Pick<ConsoleParts, 'store' | 'measurements'>

/** The services of an organisation, each with its state; `nowMs` decides which maintenance is under way. */
export async function readServiceRows(
  { store, measurements }: RowParts,
  orgId: string,
  nowMs: number,
): Promise<readonly ServiceRow[]> {
  const services = await store.listServices(orgId)
  const context = await readContext({ store, measurements }, orgId, nowMs)
  // True because only rendered ServiceResponses are stored.
  return services.map(({ text }) => rowOf(JSON.parse(text) as ServiceResponse, context))
}

/** One service of an organisation; `undefined` when there is no such service. */
export async function readServiceRow(
  parts: RowParts,
  orgId: string,
  { serviceId, nowMs }: { readonly serviceId: string; readonly nowMs: number },
): Promise<(ServiceRow & { readonly generation: number }) | undefined> {
  const found = await parts.store.getService(orgId, serviceId)
  if (found === undefined) return undefined
  const context = await readContext(parts, orgId, nowMs)
  // True because only rendered ServiceResponses are stored.
  const row = rowOf(JSON.parse(found.text) as ServiceResponse, context)
  return { ...row, generation: found.generation }
}

/** What determines the states of services. */
interface Context {
  readonly states: ReadonlyMap<string, ServiceNow>
  readonly open: readonly Incident[]
  /** Since when services are in maintenance. */
  readonly maintained: ReadonlyMap<string, string>
}

async function readContext(
  { store, measurements }: RowParts,
  orgId: string,
  nowMs: number,
): Promise<Context> {
  const states = (await measurements?.states(orgId)) ?? []
  const now = timestamp(nowMs)
  const windows = (await store.listMaintenance(orgId)).filter(
    ({ startsAt, endsAt }) => startsAt <= now && now < endsAt,
  )
  const filter = { section: 'active', q: undefined, severity: undefined, serviceIds: [] } as const
  const found = await store.listIncidents(orgId, { ...filter, page: 1, limit: INCIDENTS_MAX }, async () => {})
  return {
    states: new Map(states.map((state) => [state.id, state])),
    // More than fit into memory are not shown beside their services.
    open: 'items' in found ? found.items : [],
    maintained: new Map(
      windows.flatMap(({ serviceIds, startsAt }) => serviceIds.map((id) => [id, startsAt] as const)),
    ),
  }
}

function rowOf(service: ServiceResponse, { states, open, maintained }: Context): ServiceRow {
  const { id, paused_at: pausedAt, created_at: createdAt } = service
  const now = states.get(id)
  const incidents = open.filter(({ service_ids: ids }) => ids.includes(id))
  const maintainedSince = maintained.get(id)
  const state = componentState({
    isPaused: pausedAt != null,
    isInMaintenance: maintainedSince !== undefined,
    measured: now?.state,
    severities: incidents.map(({ severity }) => severity),
  })
  return {
    service,
    state,
    since: pausedAt ?? maintainedSince ?? (now === undefined ? createdAt : timestamp(now.sinceS * 1_000)),
    reasons: pausedAt == null ? (now?.reasons ?? []) : [],
    incident: incidents[0],
    now,
  }
}
