import { addressRules } from '../../../monitoring/check/network/addressRules.ts'

const WEBHOOK_FLAG = 'serve --allow-webhook-ranges'
/** Advice on allowing private addresses of receivers. */
export const WEBHOOK_RANGES_ADVICE = `${WEBHOOK_FLAG} permits private ranges`

/**
 * Why the server may refuse to send to `url`, judged by its text: no TLS, or a forbidden literal address or port.
 * `undefined` without a reason; host names are checked when something is sent. Never contains the path of the URL.
 * Pure.
 */
export function webhookAddressNote(url: string): string | undefined {
  const { protocol, hostname } = new URL(url)
  if (addressRules([]).isBlocked(url)) {
    return `${hostname} is not a public address: deliveries fail unless ${WEBHOOK_FLAG} contains it`
  }
  if (protocol === 'https:') return undefined
  return `without https deliveries to ${hostname} fail unless ${WEBHOOK_FLAG} contains its address`
}
