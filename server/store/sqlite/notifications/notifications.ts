import type { NotificationStore } from '../../notificationStore.ts'
import type { Connections } from '../files/openDatabase.ts'
import type { ChannelParts } from './channelRows.ts'
import { sqliteChannels } from './channels.ts'
import { sqliteDeliveries } from './deliveries.ts'
import { sqliteSending } from './sending.ts'

/** Notification channels and their deliveries in SQLite. */
export function sqliteNotifications(connections: Connections, parts: ChannelParts): NotificationStore {
  return {
    ...sqliteChannels(connections, parts),
    ...sqliteDeliveries(connections, parts),
    ...sqliteSending(connections, parts),
  }
}
