/** No scripts, no frames, no external content, and forms to this server only. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every response: no MIME sniffing, no framing. */
const HARDENED = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
} as const

/** Headers of a response with content of a `type` that is text. */
const headersOf = (type: string, cacheControl: string) => ({
  ...HARDENED,
  'Content-Type': `${type}; charset=utf-8`,
  'Cache-Control': cacheControl,
})

/** Headers of every page. */
export const HTML_HEADERS = {
  ...headersOf('text/html', 'no-store'),
  // With `no-referrer` a browser would send forms with `Origin: null`.
  'Referrer-Policy': 'same-origin',
}
/** Headers of the style sheet, to which pages refer by the version of its content. */
export const CSS_HEADERS = headersOf('text/css', 'max-age=31536000, immutable')
/** Headers of the icon, which changes only with a release. */
export const ICON_HEADERS = headersOf('image/svg+xml', 'max-age=3600')
/** Headers of badges, which are embedded in other pages, whose caches must revalidate them. */
export const BADGE_HEADERS = {
  ...headersOf('image/svg+xml', 'no-cache, max-age=0'),
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
/** Headers of the status as JSON. */
export const JSON_HEADERS = headersOf('application/json', 'no-store')
