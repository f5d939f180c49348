import { parsedUrl } from '../../../api/contract/endpointUrl.ts'
import type { Environment } from '../environment.ts'
import type { MasterKey, SealedValue, SealPlace } from '../seal.ts'
import { sealValue } from '../seal.ts'
import type { ChannelEvent } from './payload.ts'

/** Kinds of notification channels. Gap G9. */
export const CHANNEL_KINDS = ['webhook', 'slack'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** Maximum number of channels of an organisation. */
export const CHANNELS_MAX = 50
/** Time after a rotation for which the old secret also signs (milliseconds). */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1_000
/** System ports that a webhook may use. */
const SYSTEM_PORTS: ReadonlySet<number> = new Set([80, 443])
const SYSTEM_PORT_MAX = 1_023
const URL_CHARS_MAX = 2_048

/** The role of a channel's secret. */
export type SecretRole = 'target' | 'secret' | 'old_secret'

/** A channel to create. */
export interface NewChannel {
  readonly id: string
  readonly kind: ChannelKind
  readonly name: string
  /** Host of the channel's URL. The rest of the URL may be a secret. */
  readonly host: string
  readonly events: readonly ChannelEvent[]
  /** Services whose events the channel gets; `null` for all. */
  readonly serviceIds: readonly string[] | null
  readonly sealed: { readonly target: SealedValue; readonly secret: SealedValue | null }
}

/**
 * The reason why `text` cannot be the URL of a channel; `undefined` when it can. The address is checked when something
 * is sent. Pure.
 */
export function channelUrlProblem(text: string): string | undefined {
  const url = parsedUrl(text)
  if (url === undefined || text.length > URL_CHARS_MAX) {
    return `must be a URL of at most ${URL_CHARS_MAX} characters`
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  const port = Number(url.port)
  if (port > 0 && port <= SYSTEM_PORT_MAX && !SYSTEM_PORTS.has(port)) {
    return `must not use port ${port}: below ${SYSTEM_PORT_MAX + 1} only 80 and 443 are allowed`
  }
  return undefined
}

/**
 * `value` sealed as a secret of a channel. After a rotation the old secret keeps the place, and therefore the
 * ciphertext, that it had before.
 */
export function sealSecret(
  value: string,
  place: { readonly orgId: string; readonly channelId: string; readonly role: 'target' | 'secret' },
  masterKey: MasterKey,
  environment: Environment,
): SealedValue {
  return sealValue(value, secretPlace(place), masterKey, environment)
}

function secretPlace({ orgId, channelId, role }: Parameters<typeof sealSecret>[1]): SealPlace {
  return { orgId, serviceId: '', endpointId: '', slot: `channel:${channelId}:${role}` }
}

/** The host of the channel's new `url`, and the URL sealed. */
export function sealTarget(
  url: string,
  place: { readonly orgId: string; readonly channelId: string },
  masterKey: MasterKey,
  environment: Environment,
): { readonly host: string; readonly sealed: SealedValue } {
  const sealed = sealSecret(url, { ...place, role: 'target' }, masterKey, environment)
  return { host: new URL(url).host, sealed }
}

/** `channel` as a new channel of `orgId`, with its URL and its signing secret, if it has one, sealed. */
export function makeChannel(
  channel: Omit<NewChannel, 'host' | 'sealed'>,
  { orgId, url, secret }: { readonly orgId: string; readonly url: string; readonly secret: string | null },
  masterKey: MasterKey,
  environment: Environment,
): NewChannel {
  const place = { orgId, channelId: channel.id }
  const { host, sealed: target } = sealTarget(url, place, masterKey, environment)
  const sealed =
    secret === null ? null : sealSecret(secret, { ...place, role: 'secret' }, masterKey, environment)
  return { ...channel, host, sealed: { target, secret: sealed } }
}
