import type { NotificationStore } from '../../notificationStore.ts'
import type { TurnParts } from '../writes/orgQueues.ts'
import { postgresChannels } from './channels.ts'
import { postgresDeliveries } from './deliveries.ts'
import { postgresSending } from './sending.ts'

/** Notification channels and their deliveries in PostgreSQL; `giveBack` ends the turns of this process. */
export function postgresNotifications(parts: TurnParts) {
  const { giveBack, ...sending } = postgresSending(parts.pools)
  const store: NotificationStore = { ...postgresChannels(parts), ...postgresDeliveries(parts), ...sending }
  return { giveBack, store }
}
