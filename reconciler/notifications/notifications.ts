import type { Registry } from 'prom-client'
import type { NotificationSettings } from '../controller/config/notificationSettings.ts'
import type { ControllerClock } from '../controller/schedule/clock.ts'
import type { ControllerStatus, EventSink } from '../controller/status/status.ts'
import { sendOverHttp } from './delivery/outgoing.ts'
import { reportersOf } from './forge/reporters.ts'
import { notificationMetrics } from './notificationMetrics.ts'
import { channelsOf } from './notifier.ts'

/** What notifications need of the program. */
export interface NotificationDeps {
  readonly status: () => ControllerStatus
  readonly registry: Registry
  /** How people reach the page; null when the configuration does not say. */
  readonly publicUrl: string | null
  readonly version: string
  readonly replica: string
  readonly clock: ControllerClock
  readonly newId: () => string
  /** Hears in words what keeps notifications from arriving. Never holds a secret, nor an address that may be one. */
  readonly onProblem: (message: string) => void
}

/** Receivers of events: channels, and the forges that have the commits. */
export interface Notifications {
  readonly onEvent: EventSink
  /** Sends what still waits, for a few seconds at most. */
  readonly close: () => Promise<void>
}

/** Opens the channels and forges that `settings` describe. */
export function openNotifications(settings: NotificationSettings, deps: NotificationDeps): Notifications {
  const send = sendOverHttp(deps.clock.wallMs)
  const metrics = notificationMetrics(
    deps.registry,
    () => new Map([...channels].map(([name, { waiting }]) => [name, waiting])),
  )
  const channels = channelsOf(settings.channels, { ...deps, send, onResult: metrics.onDelivery })
  const reporters = reportersOf(settings.forges, { ...deps, send, onResult: metrics.onReport })
  const receivers = [...channels.values(), ...reporters]
  return {
    onEvent: (event) => {
      for (const receiver of receivers) receiver.offer(event)
    },
    close: async () => {
      await Promise.all(receivers.map((receiver) => receiver.close()))
    },
  }
}
