import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { HookConfig } from '../config/controllerSchema.ts'

/** For each kind of sender the header and form of its signature, and the headers that identify a delivery. */
const KINDS: Readonly<
  Record<
    HookConfig['kind'],
    { readonly header: string; readonly form: 'token' | 'hmac'; readonly delivery: readonly string[] }
  >
> = {
  github: { header: 'x-hub-signature-256', form: 'hmac', delivery: ['x-github-delivery'] },
  gitlab: {
    header: 'x-gitlab-token',
    form: 'token',
    // The second header repeats for events that are caused by a webhook of an earlier event.
    delivery: ['idempotency-key', 'x-gitlab-event-uuid'],
  },
  generic: { header: 'x-signature', form: 'hmac', delivery: ['x-delivery-id'] },
}

/** Whether two texts are equal, compared in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/** Whether a request has a signature: the body of one without is not read. Pure. */
export function hasSignature(kind: HookConfig['kind'], headers: IncomingHttpHeaders): boolean {
  return signatureOf(kind, headers) !== null
}

/** Whether `body` is signed with one of `secrets`, of which there are two during a rotation. */
export function isSigned(
  kind: HookConfig['kind'],
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly string[],
): boolean {
  const signature = signatureOf(kind, headers)
  if (signature === null) return false
  const { form } = KINDS[kind]
  // All are tried, so that the time does not reveal which one matches.
  return secrets
    .map((secret) => isSameSecret(signature, form === 'token' ? secret : hmacOf(secret, body)))
    .includes(true)
}

function signatureOf(kind: HookConfig['kind'], headers: IncomingHttpHeaders): string | null {
  const { header, form } = KINDS[kind]
  const value = headers[header]
  if (typeof value !== 'string' || value === '') return null
  if (form === 'token') return value
  const [, hex] = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(value) ?? []
  return hex?.toLowerCase() ?? null
}

function hmacOf(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** The sender's id of this delivery; null for none. Pure. */
export function deliveryOf(kind: HookConfig['kind'], headers: IncomingHttpHeaders): string | null {
  const values = KINDS[kind].delivery.map((name) => headers[name])
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null
}
