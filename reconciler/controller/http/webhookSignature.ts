import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { HookConfig } from '../config/controllerSchema.ts'

/** How each kind of sender proves that it knows the secret, and names its deliveries. */
const KINDS: Readonly<
  Record<
    HookConfig['kind'],
    { readonly proof: string; readonly form: 'token' | 'hmac'; readonly delivery: readonly string[] }
  >
> = {
  github: { proof: 'x-hub-signature-256', form: 'hmac', delivery: ['x-github-delivery'] },
  gitlab: {
    proof: 'x-gitlab-token',
    form: 'token',
    // The other one is the same for an event that a webhook of an earlier event brought about.
    delivery: ['idempotency-key', 'x-gitlab-event-uuid'],
  },
  gitea: { proof: 'x-gitea-signature', form: 'hmac', delivery: ['x-gitea-delivery'] },
  forgejo: { proof: 'x-gitea-signature', form: 'hmac', delivery: ['x-gitea-delivery'] },
  bitbucket: { proof: 'x-hub-signature', form: 'hmac', delivery: ['x-request-uuid'] },
  generic: { proof: 'x-signature', form: 'hmac', delivery: ['x-delivery-id'] },
}

/** Whether two texts are equal, in a time that does not tell where they differ. */
export function isSameSecret(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/** Whether a request has what could be a proof at all: one without need not be read. Pure. */
export function hasProof(kind: HookConfig['kind'], headers: IncomingHttpHeaders): boolean {
  return proofOf(kind, headers) !== null
}

/** Whether the sender of `body` knows one of `secrets`. Two are valid while one replaces the other. */
export function isProven(
  kind: HookConfig['kind'],
  headers: IncomingHttpHeaders,
  body: Buffer,
  secrets: readonly string[],
): boolean {
  const proof = proofOf(kind, headers)
  if (proof === null) return false
  const { form } = KINDS[kind]
  // All are tried, so that the time does not tell which one fits.
  return secrets
    .map((secret) => isSameSecret(proof, form === 'token' ? secret : hmacOf(secret, body)))
    .includes(true)
}

function proofOf(kind: HookConfig['kind'], headers: IncomingHttpHeaders): string | null {
  const { proof, form } = KINDS[kind]
  const value = headers[proof]
  if (typeof value !== 'string' || value === '') return null
  if (form === 'token') return value
  const [, hex] = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(value) ?? []
  return hex?.toLowerCase() ?? null
}

function hmacOf(secret: string, body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** What the sender calls this delivery; null when it does not say. Pure. */
export function deliveryOf(kind: HookConfig['kind'], headers: IncomingHttpHeaders): string | null {
  const values = KINDS[kind].delivery.map((name) => headers[name])
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null
}
