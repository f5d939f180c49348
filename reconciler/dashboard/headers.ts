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

/** Headers of every page. */
export const HTML_HEADERS = {
  ...HARDENED,
  // With `no-referrer` a browser would send forms with `Origin: null`.
  'Referrer-Policy': 'same-origin',
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
}
/** Headers of the style sheet, to which pages refer by the version of its content. */
export const CSS_HEADERS = {
  ...HARDENED,
  'Content-Type': 'text/css; charset=utf-8',
  'Cache-Control': 'max-age=31536000, immutable',
}
/** Headers of the icon, which changes only with a release. */
export const ICON_HEADERS = {
  ...HARDENED,
  'Content-Type': 'image/svg+xml; charset=utf-8',
  'Cache-Control': 'max-age=3600',
}
/** Headers of badges, which are embedded in other pages, whose caches must revalidate them. */
export const BADGE_HEADERS = {
  ...ICON_HEADERS,
  'Cache-Control': 'no-cache, max-age=0',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
/** Headers of the status as JSON. */
export const JSON_HEADERS = {
  ...HARDENED,
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
}
