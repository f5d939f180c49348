import type { Database } from 'better-sqlite3'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import type { GroupCommit } from '../commits/groupCommit.ts'
import type { Connections } from '../files/openDatabase.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** How long the number of an endpoint is kept after its history (days): agents deliver results up to a day late. */
const KEPT_DAYS = 7
/** Endpoints read at once. */
const PAGE_ENDPOINTS = 500

interface NumberedEndpoint {
  readonly number: number
  readonly endpointId: string
  readonly serviceId: string
  readonly endedAtMs: number | null
}

/**
 * Prepares removing the numbers of removed endpoints whose history has expired. A number is never reused. The time of a
 * removal is not stored, so it counts from the first call that finds the endpoint missing.
 */
export function prepareEndpointCleanup({ reader, writer }: Connections, commits: GroupCommit) {
  const page = reader.prepare<[number], NumberedEndpoint>(
    `SELECT number, endpoint_id AS endpointId, service_id AS serviceId, ended_at_ms AS endedAtMs
     FROM numbered_endpoints WHERE number > ? ORDER BY number LIMIT ${PAGE_ENDPOINTS}`,
  )
  const response = reader.prepare<[string], string>('SELECT response FROM services WHERE id = ?').pluck()
  const mark = writer.prepare('UPDATE numbered_endpoints SET ended_at_ms = ? WHERE number = ?')
  const forget = prepareForget(writer)

  function activeIn(serviceId: string): ReadonlySet<string> {
    const text = response.get(serviceId)
    if (text === undefined) return new Set()
    // True because only rendered ServiceResponses are stored.
    return new Set((JSON.parse(text) as ServiceResponse).endpoints.map(({ id }) => id))
  }

  return async (nowMs: number): Promise<void> => {
    for (let rows = page.all(0); rows.length > 0; rows = page.all(rows.at(-1)?.number ?? 0)) {
      const services = new Map([...new Set(rows.map((row) => row.serviceId))].map((id) => [id, activeIn(id)]))
      const changed = rows.filter(({ endpointId, serviceId, endedAtMs }) => {
        const isActive = services.get(serviceId)?.has(endpointId) === true
        return isActive === (endedAtMs !== null)
      })
      if (changed.length > 0) {
        await commits.run(() => {
          for (const { number, endedAtMs } of changed) mark.run(endedAtMs === null ? nowMs : null, number)
        })
      }
      // Lets other work run between pages.
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    while ((await commits.run(() => forget(nowMs))) > 0) {}
  }
}

function prepareForget(writer: Database): (nowMs: number) => number {
  const forget = writer.prepare(
    `DELETE FROM numbered_endpoints WHERE number IN
       (SELECT n.number FROM numbered_endpoints n
        LEFT JOIN services s ON s.id = n.service_id
        LEFT JOIN orgs o ON o.id = s.org_id
        LEFT JOIN plans p ON p.name = o.plan
        WHERE n.ended_at_ms < @nowMs - ${DAY_MS} *
          (${KEPT_DAYS} + coalesce(max(p.hours_days, coalesce(o.results_days, p.results_days)), 0))
        LIMIT ${PAGE_ENDPOINTS})`,
  )
  return (nowMs) => forget.run({ nowMs }).changes
}
