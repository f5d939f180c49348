import type { Incident } from '../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { ShownState } from '../../../web/stateShapes.ts'
import type { ServiceNow, StateReason } from '../../results/measurements/measurements.ts'
import { componentState } from '../../statusPages/view/componentState.ts'
import { currentMaintenance } from '../../store/shared/readServices.ts'
import type { OpenIncidents } from '../../store/store.ts'
import type { ListedService } from '../live/serviceIndex.ts'
import type { ConsoleParts } from '../routing/route.ts'

/** A service on its page. */
export interface ServiceRow {
  readonly service: ServiceResponse
  readonly state: ShownState
  /** Start of the state (milliseconds since the epoch). */
  readonly sinceMs: number
  readonly reasons: readonly StateReason[]
  /** Its newest open incident. */
  readonly incident: Pick<Incident, 'id' | 'display_id'> | undefined
  /** Its measured state; `undefined` before the first result, and without results. */
  readonly now: ServiceNow | undefined
}

type RowParts = Pick<ConsoleParts, 'store' | 'measurements'>

/** A service in a list. */
export interface ListRow {
  readonly service: ListedService
  readonly state: ShownState
  /** Start of the state (milliseconds since the epoch). */
  readonly sinceMs: number
  readonly p95Ms: number | null
  /** Its newest open incident. */
  readonly incident: Pick<Incident, 'id' | 'display_id'> | undefined
}

/** The services of an organisation with their states at `nowMs`, ordered by name. */
export async function readListRows(
  { store, index }: Pick<ConsoleParts, 'store' | 'index'>,
  orgId: string,
  nowMs: number,
): Promise<readonly ListRow[]> {
  const { services, states } = await index.read(orgId)
  const context = await readStateContext(store, orgId, nowMs)
  return services.map((service) => {
    const now = states.get(service.id)
    const { state, sinceMs, incident } = shownStateOf(service, now, context)
    return { service, state, sinceMs, p95Ms: now?.p95Ms ?? null, incident }
  })
}

/** One service of an organisation; `undefined` when there is no such service. */
export async function readServiceRow(
  parts: RowParts,
  orgId: string,
  { serviceId, nowMs }: { readonly serviceId: string; readonly nowMs: number },
): Promise<(ServiceRow & { readonly generation: number }) | undefined> {
  const found = await parts.store.getService(orgId, serviceId)
  if (found === undefined) return undefined
  // True because only rendered ServiceResponses are stored.
  const service = JSON.parse(found.text) as ServiceResponse
  const [now] = (await parts.measurements?.states(orgId, [serviceId])) ?? []
  const context = await readStateContext(parts.store, orgId, nowMs)
  const facts = { id: serviceId, pausedAt: service.paused_at ?? null, createdAt: service.created_at }
  const reasons = facts.pausedAt === null ? (now?.reasons ?? []) : []
  const { generation } = found
  return { service, now, reasons, generation, ...shownStateOf(facts, now, context) }
}

/** Incidents and maintenance windows, which also determine shown states. */
interface StateContext {
  /** Open incidents by service id. */
  readonly open: ReadonlyMap<string, OpenIncidents>
  /** Start of the current maintenance by service id. */
  readonly maintained: ReadonlyMap<string, string>
}

async function readStateContext(
  store: ConsoleParts['store'],
  orgId: string,
  nowMs: number,
): Promise<StateContext> {
  const maintained = await currentMaintenance(store, orgId, nowMs)
  return { open: await store.openIncidents(orgId), maintained }
}

function shownStateOf(
  { id, pausedAt, createdAt }: Pick<ListedService, 'id' | 'pausedAt' | 'createdAt'>,
  now: Pick<ServiceNow, 'state' | 'sinceS'> | undefined,
  { open, maintained }: StateContext,
): Pick<ServiceRow, 'state' | 'sinceMs' | 'incident'> {
  const incidents = open.get(id)
  const maintainedSince = maintained.get(id)
  const state = componentState({
    isPaused: pausedAt !== null,
    isInMaintenance: maintainedSince !== undefined,
    measured: now?.state,
    severities: incidents?.severities ?? [],
  })
  const decided = pausedAt ?? maintainedSince ?? (now === undefined ? createdAt : undefined)
  const sinceMs = decided === undefined ? (now?.sinceS ?? 0) * 1_000 : Date.parse(decided)
  return { state, sinceMs, incident: incidents?.newest }
}
