import type { MonitoringStore, RegionMode } from '../monitoringStore.ts'
import { changeForAll } from './writes/auditWrites.ts'
import type { Pools } from './connections/pools.ts'

/** Modes of regions in PostgreSQL. */
export function postgresRegions(
  { write, read }: Pick<Pools, 'write' | 'read'>,
  nowMs: () => number,
): Pick<MonitoringStore, 'regionModes' | 'setRegionMode'> {
  return {
    regionModes: async () => {
      const rows = await read.rows<{ region: string; mode: RegionMode }>(
        'SELECT region, mode FROM region_modes',
      )
      return new Map(rows.map(({ region, mode }) => [region, mode]))
    },
    setRegionMode: async (region, mode) => {
      const done = `done AS (INSERT INTO region_modes VALUES ($1, $2)
        ON CONFLICT (region) DO UPDATE SET mode = excluded.mode RETURNING region)`
      await changeForAll(
        write,
        { done, values: [region, mode] },
        { action: 'region.set_mode', targetId: region, nowMs: nowMs(), detail: { mode } },
      )
    },
  }
}
