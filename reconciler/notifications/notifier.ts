import type { ChannelSettings } from '../controller/config/notificationSettings.ts'
import type { ChannelConfig } from '../controller/config/notificationsSchema.ts'
import type { ControllerClock } from '../controller/schedule/clock.ts'
import type { ControllerEvent } from '../controller/status/status.ts'
import { Channel, type DeliveryResult, type Message, SEVERITY_RANK } from './delivery/channel.ts'
import type { OutgoingRequest, Send } from './delivery/outgoing.ts'
import { slackRequest } from './slack/slackRequest.ts'
import { signedRequest } from './webhook/signedRequest.ts'

/** What telling others needs of the program. */
export interface NotifierDeps {
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly send: Send
  readonly version: string
  readonly replica: string
  /** How people reach the page; null when the configuration does not say. */
  readonly publicUrl: string | null
  readonly onResult: (channel: string, result: DeliveryResult, events: number) => void
  /** Hears in words what keeps others from hearing. Never holds a secret. */
  readonly onProblem: (message: string) => void
}

/** The channels that `settings` describe, by name. */
export function channelsOf(
  settings: readonly ChannelSettings[],
  deps: NotifierDeps,
): ReadonlyMap<string, Channel> {
  return new Map(
    settings.map((one) => {
      const { name } = one.config
      const channel = new Channel({
        name,
        accepts: (event) => accepts(one.config, event),
        requestOf: (message) => requestOf(one, message, deps),
        send: deps.send,
        clock: deps.clock,
        newId: deps.newId,
        onResult: (result, events) => deps.onResult(name, result, events),
        onProblem: deps.onProblem,
      })
      return [name, channel]
    }),
  )
}

/** What is about no set at all concerns those who want to hear of all of them. */
function accepts({ sets, severity, events }: ChannelConfig, event: ControllerEvent): boolean {
  return (
    SEVERITY_RANK[event.severity] >= SEVERITY_RANK[severity] &&
    (sets === undefined || (event.set !== null && sets.includes(event.set))) &&
    (events === undefined || events.includes(event.type))
  )
}

function requestOf(
  { config, url, secret }: ChannelSettings,
  message: Message,
  deps: NotifierDeps,
): OutgoingRequest {
  const { version, replica, publicUrl } = deps
  switch (config.kind) {
    case 'slack':
      return slackRequest(url, message, publicUrl)
    case 'webhook':
      return signedRequest(url, secret ?? '', message, { version, replica })
  }
}
