import { createHmac } from 'node:crypto'
import type { Environment } from '../environment.ts'

/** Length of a signing secret (bytes). */
const SECRET_BYTES = 32
const SECRET_PREFIX = 'whsec_'
const MS_PER_SECOND = 1_000

/** A new signing secret in the form of Standard Webhooks. */
export function mintSecret({ randomBytes }: Pick<Environment, 'randomBytes'>): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The headers that sign `body` for an attempt at `nowMs` (milliseconds since the epoch) as in Standard Webhooks 1.0,
 * with one signature for each of `secrets`, newest first. Pure.
 */
export function signatureHeaders(
  { webhookId, body }: { readonly webhookId: string; readonly body: string },
  secrets: readonly string[],
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(nowMs / MS_PER_SECOND))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${webhookId}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': webhookId, 'webhook-timestamp': seconds, 'webhook-signature': signatures.join(' ') }
}
