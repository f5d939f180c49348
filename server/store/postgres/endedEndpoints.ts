import type { Sql } from './connections/sql.ts'
import { definitionJson } from './connections/definitionJson.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** How long the number of an endpoint is kept after its history (days): agents deliver results up to a day late. */
const KEPT_DAYS = 7
/** Numbers checked in one statement. */
const SLICE_NUMBERS = 1_000

/**
 * Removes the numbers of removed endpoints whose history has expired: a week after the removal for a deleted service,
 * otherwise a week after the hourly counts of its organisation expire. A number is never reused. The time of a removal
 * is not stored, so it counts from the first call that finds the endpoint missing.
 */
export async function removeEndedEndpoints(write: Sql, nowMs: number): Promise<void> {
  const [newest] = await write.rows<{ number: number | null }>(
    'SELECT max(number) AS number FROM numbered_endpoints',
  )
  for (let after = 0; after < (newest?.number ?? 0); after += SLICE_NUMBERS) {
    await write.rows(
      `UPDATE numbered_endpoints n SET ended_at_ms = CASE WHEN n.ended_at_ms IS NULL THEN $1::bigint END
       WHERE n.number > $2 AND n.number <= $2 + ${SLICE_NUMBERS} AND (n.ended_at_ms IS NULL) <> EXISTS
         (SELECT FROM services s CROSS JOIN json_array_elements(${definitionJson('s.response')} -> 'endpoints') e
          WHERE s.id = n.service_id AND e ->> 'id' = n.endpoint_id::text)`,
      [nowMs, after],
    )
  }
  await write.rows(
    `DELETE FROM numbered_endpoints d USING
       (SELECT n.number FROM numbered_endpoints n
        LEFT JOIN services s ON s.id = n.service_id LEFT JOIN orgs o ON o.id = s.org_id
        LEFT JOIN plans p ON p.name = o.plan
        WHERE n.ended_at_ms < $1 - ${DAY_MS}::bigint *
          (${KEPT_DAYS} + coalesce(greatest(p.hours_days, coalesce(o.results_days, p.results_days)), 0))) gone
     WHERE d.number = gone.number`,
    [nowMs],
  )
}
