import { type StateSeconds, stateSeconds } from '../history/daySeconds.ts'
import { readRolledDays } from '../history/rollDays.ts'
import { prepareSpanRows } from '../history/spanRows.ts'
import { DAY_S } from '../history/storedResult.ts'
import type { ServiceDay } from './measurements.ts'
import type { Query, Sources } from './sources.ts'

/** Maximum number of days of one query. */
const DAYS_MAX = 400

/** See `Measurements.days`. Throws RangeError on days that are no dates or too many. */
export function* readDays(
  { database, nowS }: Sources,
  {
    serviceIds,
    from,
    to,
  }: { readonly serviceIds: readonly string[]; readonly from: string; readonly to: string },
): Query<readonly ServiceDay[]> {
  const [first, last] = [dayOf(from), Math.min(dayOf(to), Math.floor(nowS / DAY_S))]
  if (last - first >= DAYS_MAX) throw new RangeError(`at most ${DAYS_MAX} days may be read at once`)
  const rolled = Math.max(first, readRolledDays(database))
  const exists = database.prepare('SELECT 1 FROM service_now WHERE service_id = ?')
  const stored = database.prepare<[string, number, number], StateSeconds & { readonly day: number }>(
    `SELECT day, up_s AS up, degraded_s AS degraded, down_s AS down, unknown_s AS unknown, paused_s AS paused,
       maintenance_s AS maintenance FROM service_days WHERE service_id = ? AND day >= ? AND day < ? ORDER BY day`,
  )
  const firstSpan = database
    .prepare<[string], number | null>('SELECT min(from_s) FROM service_spans WHERE service_id = ?')
    .pluck()
  const spans = prepareSpanRows(database)
  const days: ServiceDay[] = []
  for (const serviceId of serviceIds) {
    if (exists.get(serviceId) === undefined) continue
    for (const { day, ...seconds } of stored.all(serviceId, first, Math.min(rolled, last + 1))) {
      days.push({ serviceId, day: dateOf(day), ...seconds })
    }
    const maintenance = spans.maintenanceOf(serviceId)
    const firstSpanS = firstSpan.get(serviceId) ?? nowS
    for (let day = Math.max(rolled, Math.floor(firstSpanS / DAY_S)); day <= last; day += 1) {
      const ofDay = spans.ofService(serviceId, { fromS: day * DAY_S, untilS: (day + 1) * DAY_S })
      if (ofDay.length === 0) continue
      days.push({ serviceId, day: dateOf(day), ...stateSeconds(day, nowS, ofDay, maintenance) })
    }
    yield
  }
  return days
}

function dayOf(date: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(ms)) throw new RangeError(`"${date}" is no date of the form YYYY-MM-DD`)
  return ms / 1_000 / DAY_S
}

function dateOf(day: number): string {
  return new Date(day * DAY_S * 1_000).toISOString().slice(0, 10)
}
