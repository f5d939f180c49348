import type { Registry } from 'prom-client'
import type { HttpsProxy } from '../../api/network/proxy.ts'
import type { ChannelSettings, NotificationSettings } from '../controller/config/settings.ts'
import type { ControllerClock } from '../controller/schedule/clock.ts'
import type { ControllerEvent, ControllerStatus, EventSink } from '../controller/status/status.ts'
import { Channel, type Message, SEVERITY_RANK } from './delivery/channel.ts'
import { type OutgoingRequest, sendOverHttp } from './delivery/outgoing.ts'
import { ForgeReporter } from './forge/forgeReporter.ts'
import { githubForge } from './forge/github.ts'
import { gitlabForge } from './forge/gitlab.ts'
import { notificationMetrics } from './notificationMetrics.ts'
import { slackRequest } from './slack/slackRequest.ts'
import { signedRequest } from './webhook/signedRequest.ts'

/** The parts of the controller that notifications use. */
export interface NotificationDeps {
  readonly status: () => ControllerStatus
  readonly registry: Registry
  /** Public address of the dashboard; null when the configuration has none. */
  readonly publicUrl: string | null
  readonly version: string
  readonly replica: string
  readonly clock: ControllerClock
  readonly proxy: HttpsProxy | undefined
  readonly newId: () => string
  /** Called with the reason why notifications fail, without secrets and addresses. */
  readonly onProblem: (message: string) => void
}

/** Receivers of events: channels and forges. */
export interface Notifications {
  readonly onEvent: EventSink
  /** Sends queued events, for at most a few seconds. */
  readonly close: () => Promise<void>
}

const FORGES = { github: githubForge, gitlab: gitlabForge } as const

/** Opens the channels and forges in `settings`. */
export function openNotifications(settings: NotificationSettings, deps: NotificationDeps): Notifications {
  const { clock, newId, onProblem } = deps
  const send = sendOverHttp(clock.wallMs, deps.proxy)
  const metrics = notificationMetrics(
    deps.registry,
    () => new Map([...channels].map(([name, { waiting }]) => [name, waiting])),
  )
  const channels = new Map(
    settings.channels.map((one) => {
      const { name } = one
      const channel = new Channel({
        name,
        send,
        clock,
        newId,
        onProblem,
        accepts: (event) => accepts(one, event),
        requestOf: (message) => requestOf(one, message, deps),
        onResult: (result, events) => metrics.onDelivery(name, result, events),
      })
      return [name, channel] as const
    }),
  )
  const reporters = settings.forges.map((one) => {
    const name = `${one.kind} ${one.repository}`
    return new ForgeReporter({
      ...deps,
      ...one,
      name,
      forgeWith: (signal) => FORGES[one.kind](one, { userAgent: `pharos/${deps.version}`, send, signal }),
      onResult: (result) => metrics.onReport(name, result),
    })
  })
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

/** Events without a set are sent to channels of all sets. */
function accepts({ sets, severity, events }: ChannelSettings, event: ControllerEvent): boolean {
  return (
    SEVERITY_RANK[event.severity] >= SEVERITY_RANK[severity] &&
    (sets === undefined || (event.set !== null && sets.includes(event.set))) &&
    (events === undefined || events.includes(event.type))
  )
}

function requestOf(
  { kind, url, secret }: ChannelSettings,
  message: Message,
  { version, replica, publicUrl }: NotificationDeps,
): OutgoingRequest {
  switch (kind) {
    case 'slack':
      return slackRequest(url, message, publicUrl)
    case 'webhook':
      return signedRequest(url, secret ?? '', message, { version, replica })
  }
}
