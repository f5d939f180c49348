import { createHmac } from 'node:crypto'
import type { Message } from '../delivery/channel.ts'
import type { OutgoingRequest } from '../delivery/outgoing.ts'

/**
 * A message for a webhook. The signature covers the raw body, which includes the time and the id of the delivery, so that a
 * receiver can detect replays.
 */
export function signedRequest(
  url: string,
  secret: string,
  { events, dropped, delivery, sentAt }: Message,
  controller: { readonly version: string; readonly replica: string },
): OutgoingRequest {
  const body = JSON.stringify({ version: 1, delivery, sentAt, controller, dropped, events })
  return {
    method: 'POST',
    url,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Pharos-Delivery': delivery,
      'X-Pharos-Signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  }
}
