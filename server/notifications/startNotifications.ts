import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { addNotificationMetrics } from '../http/operatorMetrics.ts'
import type { FindMasterKey } from '../secrets/masterKeys.ts'
import type { NotificationStore } from '../store/notificationStore.ts'
import type { UpkeepStore } from '../store/store.ts'
import { openPoster } from './poster.ts'
import { startSender } from './sender.ts'

/** Dependencies of notifications. */
export interface NotificationParts {
  readonly store: NotificationStore & Pick<UpkeepStore, 'onCommands'>
  readonly findMasterKey: FindMasterKey
  readonly log: Logger
  /** Registry for metrics. */
  readonly registry: Registry
  readonly nowMs: () => number
  /** Address ranges that webhooks may reach although they are private, and without TLS. */
  readonly webhookRanges: readonly string[]
  /** URL of the proxy for webhooks with TLS; without a proxy when absent. */
  readonly webhookProxy?: string | undefined
  /** Public origin of the console; without links to it when absent. */
  readonly consoleUrl?: string | undefined
}

/** Starts sending notifications; returns the function that stops it. Throws on an invalid address range or proxy. */
export function startNotifications(parts: NotificationParts): () => Promise<void> {
  const { store, findMasterKey, nowMs, log, registry, webhookRanges: allowedRanges, consoleUrl } = parts
  const poster = openPoster({ findMasterKey, nowMs, allowedRanges, proxy: parts.webhookProxy, consoleUrl })
  const count = addNotificationMetrics(registry, () => store.notificationStats())
  const sender = startSender({
    ...{ store, poster, nowMs, log, random: Math.random },
    onAttempt: ({ kind, attempts }, outcome, lagMs) =>
      count({ kind, outcome, isFirst: attempts === 0, lagMs }),
  })
  // A commit may have added deliveries.
  store.onCommands(sender.wake)
  return async () => {
    await sender.stop()
    await poster.close()
  }
}
