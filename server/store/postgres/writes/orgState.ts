import type { Incident } from '../../../../api/contract/incident.ts'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import type { AutoIncidentSettings } from '../../../domain/autoIncidentSettings.ts'
import type { IncidentQuota } from '../../../domain/incidentQuota.ts'
import type { Service } from '../../../domain/serviceChanges.ts'
import { subscribedChannels } from '../../notifications/channelRows.ts'
import { definitionJson } from '../../scripts/definitionJson.ts'
import type { SubscribedChannel } from '../../shared/events.ts'
import { type LimitRow, limitsOfRow, PLAN_LIMIT_COLUMNS } from '../../shared/limitRow.ts'
import type { StoredCreation } from '../../shared/storedCreation.ts'
import { uuidsIn } from '../../shared/uuid.ts'
import type { ServiceFacts } from '../../store.ts'
import { execute } from '../connections/execute.ts'
import type { Sql } from '../connections/sql.ts'
import { type AutomaticFacts, readAutomatic } from './automatic.ts'
import { readIncidents } from './incidentRows.ts'
import { ORG_COLUMNS, type OrgColumns } from './orgColumns.ts'

/** Rows that a mutation reads, besides that of its organisation. */
export interface ReadSet {
  readonly serviceIds?: readonly string[]
  /** Services that are only checked for their owner. */
  readonly ownedIds?: readonly string[]
  readonly incidentIds?: readonly string[]
  readonly creationKeys?: readonly Buffer[]
  /** Time of a transition that changes automatic incidents (seconds since the epoch). */
  readonly foundAtS?: number
}

/** A stored service and the JSON of its origin. */
export interface KnownService {
  readonly service: Service
  readonly text: string
  readonly origin: string | null
}

/** An organisation as read, with the mutations of a batch applied. */
export interface OrgState {
  readonly orgId: string
  /** Every write raises it. */
  readonly revision: number
  /** Replaced by mutations. */
  columns: OrgColumns
  readonly masterKeyId: string | null
  readonly planLimits: LimitRow
  /** By id. Deleted ones are absent. */
  readonly services: Map<string, KnownService>
  readonly ownedIds: ReadonlySet<string>
  readonly incidents: Map<string, Incident>
  /** By service. */
  readonly automatic: ReadonlyMap<string, AutomaticFacts>
  /** The active channels when an incident may change; otherwise empty. */
  readonly channels: readonly SubscribedChannel[]
  /** Names of the services of these incidents, by id, if there are channels. */
  readonly serviceNames: ReadonlyMap<string, string>
  /** By the hash of the key in hex. */
  readonly creations: Map<string, StoredCreation>
}

interface OrgRow extends OrgColumns {
  readonly revision: number
  readonly masterKeyId: string | null
  readonly planLimits: LimitRow
  readonly serviceId: string | null
  readonly response: string
  readonly generation: number
  readonly definitionGeneration: number
  readonly origin: string | null
}

const SELECT_ORG = `
  SELECT ${ORG_COLUMNS.map(({ column, field }) => `o.${column} AS "${field}"`).join(', ')}, o.revision,
    (SELECT id FROM master_keys WHERE is_active) AS "masterKeyId",
    (SELECT row_to_json(l) FROM (SELECT ${PLAN_LIMIT_COLUMNS} FROM plans p WHERE p.name = o.plan) l) AS "planLimits",
    s.id AS "serviceId", s.response, s.generation, s.definition_generation AS "definitionGeneration", s.origin
  FROM orgs o LEFT JOIN services s ON s.org_id = o.id AND s.id = ANY($2::uuid[])
  WHERE o.id = $1`

/**
 * Reads an organisation and the rows of `reads`; `undefined` when there is no such organisation. The revision is read
 * first: if a later read sees newer data, the write with this revision as guard does nothing.
 */
export async function readOrg(
  sql: Sql,
  orgId: string,
  reads: readonly ReadSet[],
): Promise<OrgState | undefined> {
  const of = <Value>(pick: (want: ReadSet) => readonly Value[] | undefined): readonly Value[] =>
    reads.flatMap((want) => pick(want) ?? [])
  const rows = await sql.rows<OrgRow>(SELECT_ORG, [orgId, uuidsIn(of(({ serviceIds }) => serviceIds))])
  const [first] = rows
  if (first === undefined) return undefined
  const ownedIds = of((want) => want.ownedIds)
  const services = new Map(rows.flatMap(serviceOf))
  const incidentIds = of((want) => want.incidentIds)
  const atS = reads.find(({ foundAtS }) => foundAtS !== undefined)?.foundAtS
  const automatic = await readAutomatic(sql, { services, incidentIds: uuidsIn(incidentIds), atS })
  const open = [...automatic.values()].flatMap((facts) => facts.open?.incidentId ?? [])
  const incidents = await readWanted(sql, orgId, [...incidentIds, ...open])
  const named = [
    ...ownedIds,
    ...automatic.keys(),
    ...[...incidents.values()].flatMap(({ service_ids }) => service_ids),
  ]
  const isAnnouncing =
    automatic.size > 0 || reads.some((want) => want.ownedIds !== undefined || want.incidentIds !== undefined)
  // Each change of a channel raises the revision.
  const channels = isAnnouncing ? await execute(sql, subscribedChannels(orgId)) : []
  return {
    orgId,
    revision: first.revision,
    columns: columnsOf(first),
    masterKeyId: first.masterKeyId,
    planLimits: first.planLimits,
    services,
    ownedIds: await ownServices(sql, orgId, ownedIds),
    ...{ incidents, automatic },
    channels,
    serviceNames: channels.length === 0 ? new Map() : await readNames(sql, orgId, named),
    creations: await readCreations(
      sql,
      orgId,
      of(({ creationKeys }) => creationKeys),
    ),
  }
}

function columnsOf(row: OrgRow): OrgColumns {
  // True because ORG_COLUMNS names every field.
  return Object.fromEntries(ORG_COLUMNS.map(({ field }) => [field, row[field]])) as unknown as OrgColumns
}

function serviceOf(row: OrgRow): readonly [string, KnownService][] {
  const { serviceId, response: text, generation, definitionGeneration, origin } = row
  if (serviceId === null) return []
  // True because only rendered ServiceResponses are stored.
  const response = JSON.parse(text) as ServiceResponse
  return [[serviceId, { service: { response, generation, definitionGeneration }, text, origin }]]
}

/** Those of `ids` that are services of the organisation. */
async function ownServices(sql: Sql, orgId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql.rows<{ id: string }>(
    'SELECT id FROM services WHERE org_id = $1 AND id = ANY($2::uuid[])',
    [orgId, uuidsIn(ids)],
  )
  return new Set(rows.map(({ id }) => id))
}

async function readNames(
  sql: Sql,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql.rows<{ id: string; name: string }>(
    `SELECT id, ${definitionJson('response')} ->> 'name' AS name FROM services WHERE org_id = $1 AND id = ANY($2::uuid[])`,
    [orgId, uuidsIn(ids)],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

async function readWanted(sql: Sql, orgId: string, ids: readonly string[]): Promise<Map<string, Incident>> {
  if (ids.length === 0) return new Map()
  const incidents = await readIncidents(sql, orgId, ids)
  return new Map(incidents.map((incident) => [incident.id, incident]))
}

async function readCreations(
  sql: Sql,
  orgId: string,
  keys: readonly Buffer[],
): Promise<Map<string, StoredCreation>> {
  if (keys.length === 0) return new Map()
  const rows = await sql.rows<StoredCreation & { keyHash: Buffer }>(
    `SELECT key_hash AS "keyHash", body_mark AS "bodyFingerprint", answer AS response, created_at_ms AS "createdAtMs"
     FROM remembered_creations WHERE org_id = $1 AND key_hash = ANY($2::bytea[])`,
    [orgId, keys],
  )
  return new Map(rows.map((row) => [row.keyHash.toString('hex'), row]))
}

/** Facts for a decision about a service. Throws while no master key is active. */
export function factsOf(state: OrgState): ServiceFacts {
  const { columns, masterKeyId, orgId } = state
  if (masterKeyId === null) throw new Error('no master key is active')
  const { activeServices, activeEndpoints, storedServices } = columns
  return {
    quota: {
      orgId,
      limits: limitsOfRow(limitRowOf(state)),
      usage: { activeServices, activeEndpoints, storedServices },
      autoIncidents: autoIncidentsOf(columns),
    },
    masterKeyId,
  }
}

/** The quota for a decision about an incident. */
export function quotaOf(state: OrgState): IncidentQuota {
  return { usedBytes: state.columns.incidentBytes, mibMax: limitRowOf(state).incidentsMibMax }
}

function autoIncidentsOf({ threshold, windowMinutes }: OrgColumns): AutoIncidentSettings | null {
  return threshold === null || windowMinutes === null ? null : { threshold, windowMinutes }
}

/** The limits of an organisation: its overrides, else those of its plan. */
function limitRowOf({ columns, planLimits: plan }: OrgState): LimitRow {
  return {
    servicesMax: columns.servicesMax ?? plan.servicesMax,
    endpointsMax: columns.endpointsMax ?? plan.endpointsMax,
    serviceEndpointsMax: columns.serviceEndpointsMax ?? plan.serviceEndpointsMax,
    intervalSecsMin: columns.intervalSecsMin ?? plan.intervalSecsMin,
    incidentsMibMax: columns.incidentsMibMax ?? plan.incidentsMibMax,
    resultsDays: columns.resultsDays ?? plan.resultsDays,
    regionsAllowed: columns.regionsAllowed ?? plan.regionsAllowed,
  }
}
