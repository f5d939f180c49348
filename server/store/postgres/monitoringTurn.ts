import { randomUUID } from 'node:crypto'
import type { MonitoringTurn } from '../store.ts'
import type { Pools } from './connections/pools.ts'
import { rowOf } from './connections/sql.ts'

/** How long a turn lasts that is not taken again (seconds): only a program that ended without giving it back makes others wait. */
const TURN_S = 10
const NAME = 'monitoring'

/**
 * The turn to monitor. Each transaction of results holds its row, so that a program whose turn has passed to another one
 * writes nothing any more.
 */
export function monitoringTurn({ write }: Pick<Pools, 'write'>): MonitoringTurn {
  const holder = randomUUID()
  return {
    lease: { name: NAME, holder },
    take: async (address) => {
      await write.rows(
        `INSERT INTO leases VALUES ($1, $2, $3, clock_timestamp() + interval '${TURN_S} s')
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
    giveBack: async () => {
      await write.rows('DELETE FROM leases WHERE name = $1 AND holder = $2', [NAME, holder])
    },
  }
}
