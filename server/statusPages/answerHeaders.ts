import { hardenedHeaders } from '../http/pages/hardenedHeaders.ts'
import type { Encoding } from './keptAnswers.ts'
import type { AnswerKind } from './makeAnswer.ts'

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
    ...hardenedHeaders(isSecure),
    ...(kind === 'html' ? {} : SHARED),
    'content-type': TYPES[kind],
    'cache-control': kind === 'badge' ? BADGE_CACHE : PAGE_CACHE,
    vary: 'accept-encoding',
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
  }
}

/** The headers of a page that says what is wrong. Pure. */
export function messageHeaders(isSecure: boolean): Record<string, string> {
  return { ...hardenedHeaders(isSecure), 'content-type': TYPES.html, 'cache-control': 'no-store' }
}
