import type { MonitoringStore, RegionMode } from '../monitoringStore.ts'
import { recordForAllOrgs } from '../scripts/auditScripts.ts'
import { rows, run, type Script, type Scripts } from '../scripts/script.ts'

/** How each region is monitored. */
export function regionModes({ read, inTransaction }: Scripts, nowMs: () => number) {
  return {
    regionModes: () =>
      read(function* () {
        const text = 'SELECT region, mode FROM region_modes'
        const found = yield* rows<{ region: string; mode: RegionMode }>(text, [])
        return new Map(found.map(({ region, mode }) => [region, mode]))
      }),
    setRegionMode: (region, mode) =>
      inTransaction(function* () {
        yield* setMode(region, mode)
        const detail = { mode }
        yield* recordForAllOrgs({ action: 'region.set_mode', targetId: region, nowMs: nowMs(), detail })
      }),
  } satisfies Partial<MonitoringStore>
}

/** Sets the mode of a region, in the transaction of its cause. */
export function setMode(region: string, mode: RegionMode): Script<void> {
  const text = `INSERT INTO region_modes (region, mode) VALUES ($1, $2)
    ON CONFLICT (region) DO UPDATE SET mode = excluded.mode`
  return run(text, [region, mode])
}
