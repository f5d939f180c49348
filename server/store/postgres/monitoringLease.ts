import { randomUUID } from 'node:crypto'
import type { MonitoringLease } from '../store.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'

/** Duration of the lease (seconds): others wait this long only when its holder ended without releasing it. */
const LEASE_S = 10
const NAME = 'monitoring'

/**
 * The lease of monitoring. Each transaction of results locks its row, so that a program that lost the lease writes
 * nothing.
 */
export function monitoringLease({ write }: Pick<Pools, 'write'>): MonitoringLease {
  const holder = randomUUID()
  return {
    row: { name: NAME, holder },
    acquire: async (address) => {
      await write.rows(
        `INSERT INTO leases VALUES ($1, $2, $3, clock_timestamp() + interval '${LEASE_S} s')
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, address = excluded.address, until = excluded.until
         WHERE leases.holder = excluded.holder OR leases.until < clock_timestamp()`,
        [NAME, holder, address],
      )
      const row = await rowOf<{ holder: string; address: string | null }>(
        write,
        'SELECT holder, address FROM leases WHERE name = $1',
        [NAME],
      )
      return { isMine: row?.holder === holder, address: row?.address ?? null }
    },
    release: async () => {
      await write.rows('DELETE FROM leases WHERE name = $1 AND holder = $2', [NAME, holder])
    },
  }
}
