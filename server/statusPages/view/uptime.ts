import type { DaySeconds } from './publicPage.ts'

/**
 * Uptime of `days` in percent: the time operational or degraded, of the time that was operational, degraded or down. Cut
 * to two decimals, so that 100 means not a second down; `null` without such time. Gap G51. Pure.
 */
export function uptimeOf(days: readonly (DaySeconds | null)[]): number | null {
  let good = 0
  let known = 0
  for (const day of days) {
    if (day === null) continue
    good += day.up + day.degraded
    known += day.up + day.degraded + day.down
  }
  return known === 0 ? null : Math.floor((good * 10_000) / known) / 100
}

/** How many days uptime is about: from the first of `days` with time that counts to the last one; 0 without such time. Pure. */
export function uptimeDaysOf(days: readonly (DaySeconds | null)[]): number {
  const first = days.findIndex((day) => day !== null && day.up + day.degraded + day.down > 0)
  return first === -1 ? 0 : days.length - first
}

/** `99.41 %` or `100 %`. Pure. */
export function uptimeText(uptime: number): string {
  return uptime === 100 ? '100 %' : `${uptime.toFixed(2)} %`
}
