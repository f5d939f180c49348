import type { SecretReference } from './fields.ts'
import {
  addressProblem,
  type ChannelConfig,
  type ForgeConfig,
  type NotificationsConfig,
  SECRET_CHARS_MIN,
} from './notificationsSchema.ts'

/** A channel with everything that it needs, in clear: nothing of it is ever printed but its name. */
export interface ChannelSettings {
  readonly config: ChannelConfig
  readonly url: string
  /** Null where nothing is signed. */
  readonly secret: string | null
}

/** A forge with its token in clear. */
export interface ForgeSettings {
  readonly config: ForgeConfig
  /** Address of its API, without a slash at the end. */
  readonly url: string
  readonly token: string
}

/** The section `notifications` as it holds on this machine. */
export interface NotificationSettings {
  readonly channels: readonly ChannelSettings[]
  readonly forges: readonly ForgeSettings[]
}

const FORGE_URLS = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const

/**
 * What `config` comes to. `secretOf` gives the secret of a reference and throws when there is none;
 * `refuse` makes the error for a secret that cannot be used, which does not repeat it.
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
