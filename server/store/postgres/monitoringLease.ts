import { randomUUID } from 'node:crypto'
import type { MonitoringLease } from '../store.ts'
import { LOCK_NOT_AVAILABLE, sqlStateOf } from './connections/failures.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'

/** Duration of the lease (seconds): others wait this long only when its holder ended without releasing it. */
const LEASE_S = 10
const NAME = 'monitoring'
const UNTIL = `clock_timestamp() + interval '${LEASE_S} s'`

/**
 * The lease of monitoring. Each transaction of results locks its row, so that a program that lost the lease writes
 * nothing.
 */
export function monitoringLease({ write }: Pick<Pools, 'write'>): MonitoringLease {
  /** Of this term, or of the last attempt to begin one: its response may have been lost. */
  let holder = randomUUID()

  async function renew(address: string | null): Promise<boolean> {
    // It changes no column of a key, so it does not wait for transactions of results.
    const row = await rowOf(
      write,
      `UPDATE leases SET address = $3, until = ${UNTIL} WHERE name = $1 AND holder = $2 RETURNING name`,
      [NAME, holder, address],
    )
    return row !== undefined
  }

  return {
    acquire: async (address) => {
      if (await renew(address)) return { row: { name: NAME, holder }, address }
      holder = randomUUID()
      // It sets the key too, so that it waits for a transaction of results of the previous holder. It asks first,
      // because the conflict alone would lock the row.
      const begun = write.rows(
        `INSERT INTO leases SELECT $1, $2::uuid, $3, ${UNTIL}
         WHERE NOT EXISTS (SELECT FROM leases WHERE name = $1 AND until >= clock_timestamp())
         ON CONFLICT (name) DO UPDATE
           SET name = excluded.name, holder = excluded.holder, address = excluded.address, until = excluded.until
         WHERE leases.until < clock_timestamp()`,
        [NAME, holder, address],
      )
      await begun.catch((error: unknown) => {
        // The previous holder, which may be killed or stopping, still stores results: it holds the lease until it ends.
        if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error
      })
      const row = await rowOf<{ holder: string; address: string | null }>(
        write,
        'SELECT holder, address FROM leases WHERE name = $1',
        [NAME],
      )
      const isMine = row?.holder === holder
      return { row: isMine ? { name: NAME, holder } : null, address: row?.address ?? null }
    },
    release: async () => {
      await write.rows('DELETE FROM leases WHERE name = $1 AND holder = $2', [NAME, holder])
    },
  }
}
