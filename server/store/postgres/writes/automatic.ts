import type { Incident } from '../../../../api/contract/incident.ts'
import { settingsOf } from '../../../domain/autoIncidentSettings.ts'
import { timestamp } from '../../../domain/environment.ts'
import type { Service } from '../../../domain/serviceChanges.ts'
import type { AutoIncidentRows, StoredAutoIncident } from '../../shared/autoIncidents.ts'
import type { Sql } from '../connections/sql.ts'
import { assignmentsFrom, columnsOf, type Parameters, SERVICE_ID } from './parameters.ts'

/** State of a service's automatic incidents. */
export interface AutomaticFacts {
  /** The open incident. Mutations replace all fields. */
  open: StoredAutoIncident | undefined
  rounds: readonly (readonly [endpointId: string, round: number])[]
  isMuted: boolean
  /** Ids of the unresolved incidents that name the service. */
  readonly openIncidents: readonly string[]
  /** As of the requested time. */
  readonly maintenance: { readonly isNow: boolean; readonly endedS: number }
}

/** The services of an organisation that were read, by id. */
type Services = ReadonlyMap<string, { readonly service: Service }>

/** The parts of a draft that automatic incidents use. */
interface AutomaticDraft {
  readonly state: {
    readonly services: Services
    readonly incidents: ReadonlyMap<string, Incident>
    readonly automatic: ReadonlyMap<string, AutomaticFacts>
  }
  readonly automatic: AutomaticWrites
  /** Services to write; a row of `null` is deleted. */
  readonly services: ReadonlyMap<string, { readonly row: unknown }>
}

/** Rows of automatic incidents to write. */
export class AutomaticWrites {
  /** `null` closes it. */
  readonly opens = new Map<string, StoredAutoIncident | null>()
  readonly muted = new Map<string, boolean>()
  readonly rounds: { serviceId: string; endpointId: string; round: number; oldest: number }[] = []
  readonly forgotten = new Set<string>()

  get isEmpty(): boolean {
    return (
      this.opens.size === 0 && this.muted.size === 0 && this.rounds.length === 0 && this.forgotten.size === 0
    )
  }
}

interface FactsRow
  extends Omit<StoredAutoIncident, 'incidentId'>,
    Pick<AutomaticFacts, 'isMuted' | 'openIncidents'> {
  readonly id: string
  readonly incidentId: string | null
  readonly rounds: AutomaticFacts['rounds'] | null
  readonly isNow: boolean
  readonly endsAt: string | null
}

const SELECT_FACTS = `
  SELECT s.id, a.incident_id AS "incidentId", a.is_taken_over AS "isTakenOver", a.is_failing AS "isFailing",
    a.updates_made AS "updatesMade", a.investigating_at_s AS "investigatingAtS",
    a.monitoring_at_s AS "monitoringAtS", a.reported_down AS "reportedDown",
    (SELECT json_agg(json_build_array(endpoint_id, round) ORDER BY round DESC) FROM failing_rounds
     WHERE service_id = s.id) AS rounds,
    EXISTS (SELECT FROM muted_until_up WHERE service_id = s.id) AS "isMuted",
    ARRAY(SELECT id FROM incidents WHERE kind = 'incident' AND status <> 'resolved'
      AND service_ids @> ARRAY[s.id]) AS "openIncidents",
    EXISTS (SELECT FROM incidents WHERE kind = 'maintenance' AND service_ids @> ARRAY[s.id]
      AND starts_at <= $3 AND ends_at > $3) AS "isNow",
    (SELECT max(ends_at) FROM incidents WHERE kind = 'maintenance' AND service_ids @> ARRAY[s.id]
      AND ends_at <= $3) AS "endsAt"
  FROM (SELECT unnest($1::uuid[]) UNION SELECT service_id FROM auto_incidents WHERE incident_id = ANY($2::uuid[]))
    AS s (id) LEFT JOIN auto_incidents a ON a.service_id = s.id`

/** Selects automatic incidents. */
interface AutomaticQuery {
  /** Without `atS`, services without automatic incidents are left out. */
  readonly services: Services
  readonly incidentIds: readonly string[]
  /** The time of a transition (seconds since the epoch); `undefined` for a change by a person. */
  readonly atS: number | undefined
}

/** Facts by service: of the services that the query selects, and of those with one of its incidents. */
export async function readAutomatic(
  sql: Sql,
  { services, incidentIds, atS }: AutomaticQuery,
): Promise<ReadonlyMap<string, AutomaticFacts>> {
  const watched = [...services].flatMap(([id, { service }]) =>
    atS !== undefined || settingsOf(service.response) !== null ? [id] : [],
  )
  if (watched.length === 0 && incidentIds.length === 0) return new Map()
  const at = atS === undefined ? null : timestamp(atS * 1_000)
  const rows = await sql.rows<FactsRow>(SELECT_FACTS, [watched, incidentIds, at])
  return new Map(rows.map((row) => [row.id, factsOfRow(row)]))
}

function factsOfRow({ rounds, isMuted, openIncidents, isNow, endsAt, ...row }: FactsRow): AutomaticFacts {
  const { id: _, incidentId, ...autoIncident } = row
  return {
    ...{ isMuted, openIncidents, rounds: rounds ?? [] },
    open: incidentId === null ? undefined : { incidentId, ...autoIncident },
    maintenance: { isNow, endedS: endsAt === null ? 0 : Math.ceil(Date.parse(endsAt) / 1_000) },
  }
}

/** The rows of automatic incidents, with the changes of `draft`. */
export function automaticRows({ state, automatic: writes }: AutomaticDraft): AutoIncidentRows {
  const factsOf = (serviceId: string): AutomaticFacts => {
    const facts = state.automatic.get(serviceId)
    if (facts === undefined) throw new Error(`the automatic incidents of ${serviceId} were not read`)
    return facts
  }
  const openOf = (serviceId: string) => {
    const autoIncident = state.automatic.get(serviceId)?.open
    const status = autoIncident && state.incidents.get(autoIncident.incidentId)?.status
    return autoIncident === undefined || status === undefined ? undefined : { ...autoIncident, status }
  }
  const change = (serviceId: string, isMuted: boolean): void => {
    const facts = state.automatic.get(serviceId)
    if (facts === undefined) return
    facts.isMuted = isMuted
    writes.muted.set(serviceId, isMuted)
  }
  return {
    service: (serviceId) => state.services.get(serviceId)?.service.response,
    open: openOf,
    openOf: (incidentId) => {
      for (const [serviceId, { open }] of state.automatic) {
        const found = open?.incidentId === incidentId ? openOf(serviceId) : undefined
        if (found !== undefined) return { ...found, serviceId }
      }
      return undefined
    },
    put: (serviceId, autoIncident) => {
      factsOf(serviceId).open = autoIncident
      writes.opens.set(serviceId, autoIncident)
    },
    close: (serviceId) => {
      factsOf(serviceId).open = undefined
      writes.opens.set(serviceId, null)
    },
    hasIncident: (serviceId) => {
      const isOpen = (id: string): boolean => state.incidents.get(id)?.status !== 'resolved'
      return factsOf(serviceId).openIncidents.some(isOpen)
    },
    isMuted: (serviceId) => factsOf(serviceId).isMuted,
    mute: (serviceId) => change(serviceId, true),
    unmute: (serviceId) => change(serviceId, false),
    addRound: (serviceId, { endpoint_id: endpointId, round }, countMax) => {
      const facts = factsOf(serviceId)
      const others = facts.rounds.filter(([id, at]) => id !== endpointId || at !== round)
      facts.rounds = [[endpointId, round] as const, ...others].toSorted(([, a], [, b]) => b - a)
      const rounds = facts.rounds.flatMap(([id, at]) => (id === endpointId ? [at] : [])).slice(0, countMax)
      writes.rounds.push({ serviceId, endpointId, round, oldest: rounds.at(-1) ?? round })
      return rounds
    },
    forgetRounds: (serviceId) => {
      const facts = state.automatic.get(serviceId)
      if (facts === undefined) return
      facts.rounds = []
      writes.forgotten.add(serviceId)
    },
    maintenance: (serviceId) => factsOf(serviceId).maintenance,
  }
}

const OPEN_COLUMNS = columnsOf<StoredAutoIncident & { readonly serviceId: string }>({
  ...{ serviceId: 'uuid', incidentId: 'uuid', isTakenOver: 'boolean', isFailing: 'boolean' },
  ...{ updatesMade: 'integer', investigatingAtS: 'bigint', monitoringAtS: 'bigint', reportedDown: 'text' },
})

/** Parts of a write for automatic incidents. A deleted service takes its rows with it. */
export function automaticParts(
  { automatic, services }: AutomaticDraft,
  parameters: Parameters,
): readonly string[] {
  const isStored = (serviceId: string): boolean => services.get(serviceId)?.row !== null
  const parts: string[] = []
  const remove = (table: string, ids: readonly string[]): void => {
    if (ids.length > 0) parts.push(deletion(table, ids, parameters))
  }
  const puts = [...automatic.opens].flatMap(([serviceId, autoIncident]) =>
    autoIncident === null ? [] : [{ ...autoIncident, serviceId }],
  )
  if (puts.length > 0) {
    parts.push(
      `${parameters.insert('auto_incidents', { columns: OPEN_COLUMNS, rows: puts })}
       ON CONFLICT (service_id) DO UPDATE SET ${assignmentsFrom('excluded', OPEN_COLUMNS)}`,
    )
  }
  remove(
    'auto_incidents',
    [...automatic.opens].flatMap(([serviceId, autoIncident]) => (autoIncident === null ? [serviceId] : [])),
  )
  const mutedNow = [...automatic.muted].flatMap(([serviceId, isMuted]) =>
    isMuted && isStored(serviceId) ? [{ serviceId }] : [],
  )
  if (mutedNow.length > 0) {
    parts.push(
      `${parameters.insert('muted_until_up', { columns: SERVICE_ID, rows: mutedNow })} ON CONFLICT DO NOTHING`,
    )
  }
  remove(
    'muted_until_up',
    [...automatic.muted].flatMap(([id, isMuted]) => (isMuted ? [] : [id])),
  )
  return [...parts, ...roundParts(automatic, parameters)]
}

type Round = AutomaticWrites['rounds'][number]
const ROUND_COLUMNS = columnsOf<Round>({ serviceId: 'uuid', endpointId: 'uuid', round: 'bigint' })
const OLDEST = columnsOf<Round>({ oldest: 'bigint' })

function roundParts({ rounds, forgotten }: AutomaticWrites, parameters: Parameters): readonly string[] {
  const parts: string[] = []
  const added = rounds.filter(({ serviceId }) => !forgotten.has(serviceId))
  if (added.length > 0) {
    parts.push(
      `${parameters.insert('failing_rounds', { columns: ROUND_COLUMNS, rows: added })} ON CONFLICT DO NOTHING`,
      `DELETE FROM failing_rounds t USING o, ${parameters.table([...ROUND_COLUMNS, ...OLDEST], added)}
       WHERE t.service_id = u.service_id AND t.endpoint_id = u.endpoint_id AND t.round < u.oldest`,
    )
  }
  if (forgotten.size > 0) parts.push(deletion('failing_rounds', [...forgotten], parameters))
  return parts
}

function deletion(table: string, serviceIds: readonly string[], parameters: Parameters): string {
  return `DELETE FROM ${table} t USING o WHERE t.service_id = ANY(${parameters.add(serviceIds)}::uuid[])`
}
