import type { SecretReference } from './fields.ts'
import {
  addressProblem,
  type ChannelConfig,
  type ForgeConfig,
  type NotificationsConfig,
  SECRET_CHARS_MIN,
} from './notificationsSchema.ts'

/** A channel with its secrets in clear: only its name may be printed. */
export interface ChannelSettings {
  readonly config: ChannelConfig
  readonly url: string
  /** Null for unsigned requests. */
  readonly secret: string | null
}

/** A forge with its token in clear. */
export interface ForgeSettings {
  readonly config: ForgeConfig
  /** Address of its API, without a slash at the end. */
  readonly url: string
  readonly token: string
}

/** The section `notifications` with the secrets of this machine. */
export interface NotificationSettings {
  readonly channels: readonly ChannelSettings[]
  readonly forges: readonly ForgeSettings[]
}

const FORGE_URLS = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const

/**
 * `config` with its secrets. `secretOf` resolves a reference or throws; `refuse` creates the error for an unusable secret,
 * whose message does not contain it.
 */
export function notificationSettingsOf(
  config: NotificationsConfig,
  secretOf: (reference: SecretReference, what: string) => string,
  refuse: (message: string) => Error,
): NotificationSettings {
  return {
    channels: config.channels.map((channel) => {
      const of = `of the channel ${channel.name}`
      const url = typeof channel.url === 'string' ? channel.url : secretOf(channel.url, `url ${of}`)
      const problem = addressProblem(url)
      if (problem !== undefined) throw refuse(`url ${of} ${problem}`)
      const secret = channel.secret === undefined ? null : secretOf(channel.secret, `secret ${of}`)
      if (secret !== null && secret.length < SECRET_CHARS_MIN)
        throw refuse(`secret ${of} must have at least ${SECRET_CHARS_MIN} characters: others could guess it`)
      return { config: channel, url, secret }
    }),
    forges: config.forges.map((forge) => ({
      config: forge,
      url: (forge.url ?? FORGE_URLS[forge.kind]).replace(/\/+$/, ''),
      token: secretOf(forge.token, `token of the forge of ${forge.repository}`),
    })),
  }
}
