import type { NotificationStore } from '../../notificationStore.ts'
import type { StoreParts } from '../writes/storeParts.ts'
import { postgresChannels } from './channels.ts'
import { postgresDeliveries } from './deliveries.ts'
import { postgresSending } from './sending.ts'

/** Notification channels and their deliveries in PostgreSQL; `releaseLeases` releases the channel leases of this process. */
export function postgresNotifications(parts: StoreParts) {
  const { releaseLeases, ...sending } = postgresSending(parts.pools)
  const store: NotificationStore = { ...postgresChannels(parts), ...postgresDeliveries(parts), ...sending }
  return { releaseLeases, store }
}
