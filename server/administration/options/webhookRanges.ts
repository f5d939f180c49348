import { addressRules } from '../../../monitoring/check/network/addressRules.ts'

const WEBHOOK_FLAG = 'serve --allow-webhook-ranges'
/** How an operator permits private addresses of receivers. */
export const WEBHOOK_RANGES_ADVICE = `${WEBHOOK_FLAG} permits private ranges`

/**
 * Why the server may refuse to send to `url`, as its text alone shows: without TLS, or with a forbidden literal address or
 * port. `undefined` when nothing shows; a name is judged when something is sent. The URL's path is not repeated. Pure.
 */
export function webhookAddressNote(url: string): string | undefined {
  const { protocol, hostname } = new URL(url)
  if (addressRules([]).isBlocked(url)) {
    return `${hostname} is not a public address: deliveries fail unless ${WEBHOOK_FLAG} contains it`
  }
  if (protocol === 'https:') return undefined
  return `without https deliveries to ${hostname} fail unless ${WEBHOOK_FLAG} contains its address`
}
