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

/** `99.41 %` or `100 %`. Pure. */
export function uptimeText(uptime: number): string {
  return uptime === 100 ? '100 %' : `${uptime.toFixed(2)} %`
}
