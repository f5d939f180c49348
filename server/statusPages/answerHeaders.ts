import type { Encoding } from './keptAnswers.ts'
import type { AnswerKind } from './makeAnswer.ts'

/** Only our own files run, style or are fetched; the script makes markup through one policy. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types pharos',
].join('; ')

/** Of every answer. */
function hardened(isSecure: boolean): Record<string, string> {
  return {
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    ...(isSecure ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}

const TYPES: Readonly<Record<AnswerKind, string>> = {
  html: 'text/html; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
  json: 'application/json; charset=utf-8',
  badge: 'image/svg+xml; charset=utf-8',
}

/** Caches in front may show a page while they ask for a newer one, and for five minutes while there is none. */
const PAGE_CACHE = 'public, max-age=15, stale-while-revalidate=60, stale-if-error=300'
const BADGE_CACHE = 'public, max-age=60'

/** What is made for other sites to show or read. */
const SHARED: Record<string, string> = {
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
}

/** The headers of an answer. Gap G51. Pure. */
export function answerHeaders({
  kind,
  encoding,
  isSecure,
}: {
  readonly kind: AnswerKind
  readonly encoding: Encoding
  readonly isSecure: boolean
}): Record<string, string> {
  return {
    ...hardened(isSecure),
    ...(kind === 'html' ? {} : SHARED),
    'content-type': TYPES[kind],
    'cache-control': kind === 'badge' ? BADGE_CACHE : PAGE_CACHE,
    vary: 'accept-encoding',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
}

/** The headers of a file that pages refer to; a versioned one never changes. Pure. */
export function assetHeaders({
  type,
  isVersioned,
  isSecure,
}: {
  readonly type: string
  readonly isVersioned: boolean
  readonly isSecure: boolean
}): Record<string, string> {
  return {
    ...hardened(isSecure),
    'content-type': type,
    'cache-control': `public, max-age=${isVersioned ? '31536000, immutable' : '3600'}`,
  }
}

/** The headers of a page that says what is wrong. Pure. */
export function messageHeaders(isSecure: boolean): Record<string, string> {
  return { ...hardened(isSecure), 'content-type': TYPES.html, 'cache-control': 'no-store' }
}
