import type { NotificationStore } from '../notificationStore.ts'
import type { Scripts } from '../scripts/script.ts'
import { channelChanger } from './channelRows.ts'
import { signingSecrets } from './channelSecrets.ts'
import { channels } from './channels.ts'
import { deliveries } from './deliveries.ts'

/** Notification channels and their deliveries, except for sending. */
export function notifications(scripts: Scripts): Omit<NotificationStore, 'dueDeliveries' | 'recordAttempt'> {
  const change = channelChanger(scripts)
  return { ...channels(scripts, change), ...signingSecrets(scripts, change), ...deliveries(scripts, change) }
}
