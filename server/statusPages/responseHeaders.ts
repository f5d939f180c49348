import { hardenedHeaders } from '../http/pages/hardenedHeaders.ts'
import type { Encoding } from './responseCache.ts'
import type { ResponseKind } from './renderResponse.ts'

const TYPES: Readonly<Record<ResponseKind, string>> = {
  html: 'text/html; charset=utf-8',
  atom: 'application/atom+xml; charset=utf-8',
  json: 'application/json; charset=utf-8',
  badge: 'image/svg+xml; charset=utf-8',
}

/** Caches may serve a stale page during revalidation, and for five minutes during errors. */
const PAGE_CACHE = 'public, max-age=15, stale-while-revalidate=60, stale-if-error=300'
const BADGE_CACHE = 'public, max-age=60'

/** Headers of resources for other sites. */
const SHARED: Record<string, string> = {
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
}

/** The headers of a response. Gap G51. Pure. */
export function responseHeaders({
  kind,
  encoding,
  isSecure,
}: {
  readonly kind: ResponseKind
  readonly encoding: Encoding
  readonly isSecure: boolean
}): Record<string, string> {
  return {
    ...hardenedHeaders(isSecure),
    ...(kind === 'html' ? {} : SHARED),
    'content-type': TYPES[kind],
    'cache-control': kind === 'badge' ? BADGE_CACHE : PAGE_CACHE,
    vary: 'accept-encoding',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
}

/** The headers of an error page. Pure. */
export function messageHeaders(isSecure: boolean): Record<string, string> {
  return { ...hardenedHeaders(isSecure), 'content-type': TYPES.html, 'cache-control': 'no-store' }
}
