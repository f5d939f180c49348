import type { StateSeconds } from '../../results/history/daySeconds.ts'

/**
 * Uptime of `days` in percent: the share of time operational or degraded in the time operational, degraded or down.
 * Truncated to two decimals, so that 100 means no downtime; `null` without such time. Gap G51. Pure.
 */
export function uptimeOf(days: readonly (StateSeconds | null)[]): number | null {
  let good = 0
  let known = 0
  for (const day of days) {
    if (day === null) continue
    good += day.up + day.degraded
    known += day.up + day.degraded + day.down
  }
  return known === 0 ? null : Math.floor((good * 10_000) / known) / 100
}

/**
 * The number of days that uptime covers: from the first of `days` with counted time to the last; 0 without such time.
 * Pure.
 */
export function uptimeDaysOf(days: readonly (StateSeconds | null)[]): number {
  const first = days.findIndex((day) => day !== null && day.up + day.degraded + day.down > 0)
  return first === -1 ? 0 : days.length - first
}

/** `99.41 %` or `100 %`. Pure. */
export function uptimeText(uptime: number): string {
  return uptime === 100 ? '100 %' : `${uptime.toFixed(2)} %`
}
