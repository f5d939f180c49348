import type { Database } from 'better-sqlite3'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { OpenAutoIncident } from '../../domain/autoIncidents.ts'
import { timestamp } from '../../domain/environment.ts'
import { row, rows, run, type ScriptValue } from '../scripts/script.ts'
import type { AutoIncidentRows } from '../shared/autoIncidents.ts'
import { executorOn } from './sqliteScripts.ts'

/** A row of an open automatic incident. */
type OpenRow = Omit<OpenAutoIncident, 'isTakenOver' | 'isFailing'> & {
  readonly serviceId: string
  readonly isTakenOver: number
  readonly isFailing: number
}

const OPEN_SQL = `SELECT a.service_id AS serviceId, a.incident_id AS incidentId, i.status, a.is_taken_over AS isTakenOver,
    a.is_failing AS isFailing, a.updates_made AS updatesMade, a.investigating_at_s AS investigatingAtS,
    a.monitoring_at_s AS monitoringAtS, a.reported_down AS reportedDown
  FROM auto_incidents a JOIN incidents i ON i.id = a.incident_id`

/** The rows behind automatic incidents in `writer`. */
export function autoIncidentRows(writer: Database): AutoIncidentRows {
  const execute = executorOn(writer)
  const one = <Row extends object>(text: string, values: readonly ScriptValue[]): Row | undefined =>
    execute(row<Row>(text, values))
  const write = (text: string, values: readonly ScriptValue[]): void => execute(run(text, values))
  const openWhere = (condition: string, id: string) => {
    const found = one<OpenRow>(`${OPEN_SQL} WHERE ${condition}`, [id])
    return found && { ...found, isTakenOver: found.isTakenOver === 1, isFailing: found.isFailing === 1 }
  }
  const forget = 'DELETE FROM failing_rounds WHERE service_id = $1'
  return {
    service: (serviceId) => {
      const found = one<{ text: string }>('SELECT response AS text FROM services WHERE id = $1', [serviceId])
      // True because only rendered ServiceResponses are stored.
      return found && (JSON.parse(found.text) as ServiceResponse)
    },
    open: (serviceId) => openWhere('a.service_id = $1', serviceId),
    openOf: (incidentId) => openWhere('a.incident_id = $1', incidentId),
    put: (serviceId, { incidentId, isTakenOver, isFailing, updatesMade, ...times }) => {
      const { investigatingAtS, monitoringAtS, reportedDown } = times
      write('INSERT OR REPLACE INTO auto_incidents VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [
        ...[serviceId, incidentId, isTakenOver, isFailing, updatesMade],
        ...[investigatingAtS, monitoringAtS, reportedDown],
      ])
    },
    close: (serviceId) => write('DELETE FROM auto_incidents WHERE service_id = $1', [serviceId]),
    hasIncident: (serviceId) => {
      const text = `SELECT 1 FROM incident_services
        WHERE service_id = $1 AND is_resolved = 0 AND position IS NOT NULL LIMIT 1`
      return one(text, [serviceId]) !== undefined
    },
    isMuted: (serviceId) =>
      one('SELECT 1 FROM muted_until_up WHERE service_id = $1', [serviceId]) !== undefined,
    mute: (serviceId) => write('INSERT INTO muted_until_up VALUES ($1) ON CONFLICT DO NOTHING', [serviceId]),
    unmute: (serviceId) => write('DELETE FROM muted_until_up WHERE service_id = $1', [serviceId]),
    addRound: (serviceId, { endpoint_id: endpointId, round }, countMax) => {
      write('INSERT INTO failing_rounds VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
        ...[serviceId, endpointId, round],
      ])
      const newest = `SELECT round FROM failing_rounds WHERE service_id = $1 AND endpoint_id = $2
        ORDER BY round DESC LIMIT $3`
      const kept = execute(rows<{ round: number }>(newest, [serviceId, endpointId, countMax]))
      const oldest = kept.at(-1)?.round ?? round
      write(`${forget} AND endpoint_id = $2 AND round < $3`, [serviceId, endpointId, oldest])
      return kept.map((one) => one.round)
    },
    forgetRounds: (serviceId) => write(forget, [serviceId]),
    maintenance: (serviceId, atS) => {
      const found = one<{ isNow: number; endsAt: string | null }>(MAINTENANCE_SQL, [
        serviceId,
        timestamp(atS * 1_000),
      ])
      const end = found?.endsAt ?? null
      const endedS = end === null ? 0 : Math.ceil(Date.parse(end) / 1_000)
      return { isNow: found?.isNow === 1, endedS }
    },
  }
}

/** Whether a window of the service `$1` is open at `$2`, and when the last one ended by then. */
const MAINTENANCE_SQL = `
  SELECT coalesce(max(i.starts_at <= $2 AND i.ends_at > $2), 0) AS isNow,
    max(CASE WHEN i.ends_at <= $2 THEN i.ends_at END) AS endsAt
  FROM incident_services s JOIN incidents i ON i.id = s.incident_id
  WHERE s.service_id = $1 AND s.position IS NULL AND i.kind = 'maintenance'`
