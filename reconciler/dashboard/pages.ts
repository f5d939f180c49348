import { SERVICE_STATES } from '../controller/status/labels.ts'
import type { ControllerStatus, ServiceState } from '../controller/status/status.ts'
import { badge } from './badge.ts'
import { LOGO } from './icons.ts'
import { overviewPage, type PageRequest } from './overviewPage.ts'
import { noSetPage, setPage } from './setPage.ts'
import { statusDocument } from './statusDocument.ts'
import { STYLE } from './style.ts'
import type { Viewer } from './viewer.ts'

/** A response to a GET. `headers` has the content type. */
export interface PageResponse {
  readonly status: 200 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Inputs of pages besides the status. */
export interface PageOptions {
  /** Address of the routes below /api, for commands on pages; null when disabled. */
  readonly apiUrl: string | null
  /** Called once for each page; consumes the message of the viewer. */
  readonly viewer: () => Viewer
}

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
const SVG = { ...HARDENED, 'Content-Type': 'image/svg+xml; charset=utf-8' }
/** Badges are embedded in other pages, whose caches must revalidate them. */
const BADGE = {
  ...SVG,
  'Cache-Control': 'no-cache, max-age=0',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/**
 * The response to a GET of `target` (path and query as in a request line); undefined for unknown pages. `status` and
 * `viewer` are called only when needed. Otherwise pure.
 */
export function pageFor(
  target: string,
  status: () => ControllerStatus,
  { apiUrl, viewer }: PageOptions,
): PageResponse | undefined {
  const [path = '', query = ''] = target.split('?', 2)
  const params = new URLSearchParams(query)
  const request = () => {
    const who = viewer()
    // A refresh would remove the reason why nothing was done.
    const isRefused = who.kind === 'person' && who.message?.isDone === false
    const isRefreshing = params.get('refresh') !== 'off' && !isRefused
    return { status: status(), apiUrl, isRefreshing, viewer: who }
  }
  if (path === '/') return found(HTML_HEADERS, overviewPage(request()))
  if (path === '/style.css') return found(CSS, STYLE)
  if (path === '/favicon.svg') return found({ ...SVG, 'Cache-Control': 'max-age=3600' }, LOGO.toString())
  if (path === '/status.json') return found(JSON_HEADERS, `${JSON.stringify(statusDocument(status()))}\n`)
  const [, folder, segment = ''] = /^\/(sets|badge)\/([^/]+)$/.exec(path) ?? []
  const name = decoded(segment)
  if (folder === 'sets' && name !== null) return responseForSet(name, request, params)
  if (folder === 'badge' && name?.endsWith('.svg') === true)
    return responseForBadge(name.slice(0, -4), status())
  return undefined
}

const CSS = {
  ...HARDENED,
  'Content-Type': 'text/css; charset=utf-8',
  // Pages refer to it by the version of its content.
  'Cache-Control': 'max-age=31536000, immutable',
}
const JSON_HEADERS = {
  ...HARDENED,
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
}

function found(headers: PageResponse['headers'], body: string): PageResponse {
  return { status: 200, headers, body }
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    // URIError: an invalid percent-encoding.
    return null
  }
}

function responseForSet(name: string, requested: () => PageRequest, params: URLSearchParams): PageResponse {
  const request = requested()
  const set = request.status.sets.find((one) => one.name === name)
  if (set === undefined) return { status: 404, headers: HTML_HEADERS, body: noSetPage(request) }
  const page = Number(params.get('page') ?? '1')
  const services = { state: stateIn(params), page: Number.isSafeInteger(page) && page >= 1 ? page : 1 }
  return found(HTML_HEADERS, setPage(set, request, services))
}

function stateIn(params: URLSearchParams): ServiceState | null {
  return SERVICE_STATES.find((state) => state === params.get('state')) ?? null
}

function responseForBadge(name: string, { sets }: ControllerStatus): PageResponse {
  const set = sets.find((one) => one.name === name)
  return { status: set === undefined ? 404 : 200, headers: BADGE, body: badge(name, set) }
}
