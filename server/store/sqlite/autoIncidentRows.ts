import type { Database } from 'better-sqlite3'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { OpenAutoIncident } from '../../domain/autoIncidents.ts'
import { timestamp } from '../../domain/environment.ts'
import type { AutoIncidentRows } from '../shared/autoIncidents.ts'

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

/** Prepares the rows behind automatic incidents on `writer`. */
export function prepareAutoIncidentRows(writer: Database): AutoIncidentRows {
  const service = writer.prepare<[string], string>('SELECT response FROM services WHERE id = ?').pluck()
  const open = writer.prepare<[string], OpenRow>(`${OPEN_SQL} WHERE a.service_id = ?`)
  const openOf = writer.prepare<[string], OpenRow>(`${OPEN_SQL} WHERE a.incident_id = ?`)
  const put = writer.prepare(
    `INSERT OR REPLACE INTO auto_incidents VALUES (@serviceId, @incidentId, @isTakenOver, @isFailing, @updatesMade,
       @investigatingAtS, @monitoringAtS, @reportedDown)`,
  )
  const close = writer.prepare('DELETE FROM auto_incidents WHERE service_id = ?')
  const named = writer.prepare(
    'SELECT 1 FROM incident_services WHERE service_id = ? AND is_resolved = 0 AND position IS NOT NULL LIMIT 1',
  )
  const muted = writer.prepare('SELECT 1 FROM muted_until_up WHERE service_id = ?')
  const mute = writer.prepare('INSERT INTO muted_until_up VALUES (?) ON CONFLICT DO NOTHING')
  const unmute = writer.prepare('DELETE FROM muted_until_up WHERE service_id = ?')
  return {
    ...prepareRounds(writer),
    ...prepareMaintenance(writer),
    service: (serviceId) => {
      const text = service.get(serviceId)
      // True because only rendered ServiceResponses are stored.
      return text === undefined ? undefined : (JSON.parse(text) as ServiceResponse)
    },
    open: (serviceId) => openOfRow(open.get(serviceId)),
    openOf: (incidentId) => openOfRow(openOf.get(incidentId)),
    put: (serviceId, { isTakenOver, isFailing, ...marks }) => {
      put.run({ ...marks, serviceId, isTakenOver: Number(isTakenOver), isFailing: Number(isFailing) })
    },
    close: (serviceId) => {
      close.run(serviceId)
    },
    hasIncident: (serviceId) => named.get(serviceId) !== undefined,
    isMuted: (serviceId) => muted.get(serviceId) !== undefined,
    mute: (serviceId) => {
      mute.run(serviceId)
    },
    unmute: (serviceId) => {
      unmute.run(serviceId)
    },
  }
}

function openOfRow(
  row: OpenRow | undefined,
): (OpenAutoIncident & { readonly serviceId: string }) | undefined {
  if (row === undefined) return undefined
  return { ...row, isTakenOver: row.isTakenOver === 1, isFailing: row.isFailing === 1 }
}

/** Failing rounds of endpoints, at most as many per endpoint as the threshold requires. */
function prepareRounds(writer: Database): Pick<AutoIncidentRows, 'addRound' | 'forgetRounds'> {
  const insert = writer.prepare('INSERT INTO failing_rounds VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const newest = writer
    .prepare<[string, string, number], number>(
      'SELECT round FROM failing_rounds WHERE service_id = ? AND endpoint_id = ? ORDER BY round DESC LIMIT ?',
    )
    .pluck()
  const trim = writer.prepare(
    'DELETE FROM failing_rounds WHERE service_id = ? AND endpoint_id = ? AND round < ?',
  )
  const forget = writer.prepare('DELETE FROM failing_rounds WHERE service_id = ?')
  return {
    addRound: (serviceId, { endpoint_id, round }, countMax) => {
      insert.run(serviceId, endpoint_id, round)
      const rounds = newest.all(serviceId, endpoint_id, countMax)
      trim.run(serviceId, endpoint_id, rounds.at(-1) ?? round)
      return rounds
    },
    forgetRounds: (serviceId) => {
      forget.run(serviceId)
    },
  }
}

function prepareMaintenance(writer: Database): Pick<AutoIncidentRows, 'maintenance'> {
  const windows = `FROM incident_services s JOIN incidents i ON i.id = s.incident_id
    WHERE s.service_id = @serviceId AND s.position IS NULL AND i.kind = 'maintenance'`
  const now = writer.prepare(`SELECT 1 ${windows} AND i.starts_at <= @at AND i.ends_at > @at LIMIT 1`)
  const ended = writer
    .prepare<[{ serviceId: string; at: string }], string | null>(
      `SELECT max(i.ends_at) ${windows} AND i.ends_at <= @at`,
    )
    .pluck()
  return {
    maintenance: (serviceId, atS) => {
      const asked = { serviceId, at: timestamp(atS * 1_000) }
      const end = ended.get(asked)
      return {
        isNow: now.get(asked) !== undefined,
        endedS: end == null ? 0 : Math.ceil(Date.parse(end) / 1_000),
      }
    },
  }
}
