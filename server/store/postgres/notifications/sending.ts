import { randomUUID } from 'node:crypto'
import type { NotificationStore } from '../../notificationStore.ts'
import { dueDeliveries } from '../../notifications/dueDeliveries.ts'
import { recordAttempt } from '../../notifications/recordAttempt.ts'
import { run, type Scripts } from '../../scripts/script.ts'
import type { Pools } from '../connections/pools.ts'

/**
 * Duration of the lease of a channel (seconds): longer than the longest attempt and its recording. Other processes wait
 * this long only when the holder ended without releasing the lease.
 */
const LEASE_S = 60

/** Storage for the sender. A process that stops calls `releaseLeases`, so that others send at once. */
export interface Sending extends Pick<NotificationStore, 'dueDeliveries' | 'recordAttempt'> {
  readonly releaseLeases: () => Promise<void>
}

/**
 * One process at a time sends the deliveries of a channel: it holds a lease, by the clock of the database, and releases
 * it when it records the attempt.
 */
export function postgresSending({ write }: Pick<Pools, 'write'>, scripts: Scripts): Sending {
  const holder = randomUUID()
  return {
    dueDeliveries: dueDeliveries(scripts, {
      isFree: `NOT EXISTS (SELECT 1 FROM channel_turns t
        WHERE t.channel_id = w.id AND t.holder <> $2 AND t.until > clock_timestamp())`,
      holder,
      take: async (channelIds) => {
        const taken = await write.rows<{ id: string }>(
          `INSERT INTO channel_turns AS t (channel_id, holder, until)
           SELECT c.id, $1, clock_timestamp() + interval '${LEASE_S} seconds'
           FROM channels c WHERE c.id = ANY($2::uuid[]) ORDER BY c.id
           ON CONFLICT (channel_id) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE t.holder = excluded.holder OR t.until <= clock_timestamp()
           RETURNING t.channel_id AS id`,
          [holder, channelIds],
        )
        return taken.map(({ id }) => id)
      },
      release: async (channelIds) => {
        const text = 'DELETE FROM channel_turns WHERE holder = $1 AND channel_id = ANY($2::uuid[])'
        await write.rows(text, [holder, channelIds])
      },
    }),
    recordAttempt: recordAttempt(scripts, function* ({ channelId, orgId }, mayDisable) {
      // Channels are locked after their organisation.
      if (mayDisable) yield* run('UPDATE orgs SET revision = revision + 1 WHERE id = $1', [orgId])
      yield* run('SELECT id FROM channels WHERE id = $1 FOR NO KEY UPDATE', [channelId])
      yield* run('DELETE FROM channel_turns WHERE holder = $1 AND channel_id = $2', [holder, channelId])
    }),
    releaseLeases: async () => {
      await write.rows('DELETE FROM channel_turns WHERE holder = $1', [holder])
    },
  }
}
