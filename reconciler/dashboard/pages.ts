import type { ControllerStatus, ServiceState } from '../controller/status/status.ts'
import { SERVICE_STATES } from '../controller/status/words.ts'
import { badge } from './badge.ts'
import { SIGN } from './icons.ts'
import { overviewPage, type PageRequest } from './overviewPage.ts'
import { setPage } from './setPage.ts'
import { statusDocument } from './statusDocument.ts'
import { STYLE } from './style.ts'
import type { Viewer } from './viewer.ts'

/** An answer to a GET. `headers` has the content type. */
export interface PageAnswer {
  readonly status: 200 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What pages are made of besides the status. */
export interface PageOptions {
  /** Where the routes below /api are, for commands that people copy; null where they are off. */
  readonly apiUrl: string | null
  /** Asked once for each page; hands out the message of the person who looks. */
  readonly viewer: () => Viewer
}

/** Nothing runs, nothing is framed, nothing comes from elsewhere, and forms are sent to this server only. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** What every answer says besides its type: no browser may take it for another type, or frame it elsewhere. */
const HARDENED = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
} as const

/** Of every page. */
export const HTML_HEADERS = {
  ...HARDENED,
  // With no referrer at all a browser would send forms with `Origin: null`.
  'Referrer-Policy': 'same-origin',
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
}
const SVG = { ...HARDENED, 'Content-Type': 'image/svg+xml; charset=utf-8' }
/** A badge stands in pages of others, and has to be asked for anew by whatever keeps copies for them. */
const BADGE = {
  ...SVG,
  'Cache-Control': 'no-cache, max-age=0',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/**
 * The answer to a GET of `target` (path and query as in a request line); undefined when it is no page of ours.
 * `status` and `viewer` are asked only when the answer is made of them. Pure but for that.
 */
export function pageFor(
  target: string,
  status: () => ControllerStatus,
  { apiUrl, viewer }: PageOptions,
): PageAnswer | undefined {
  const [path = '', query = ''] = target.split('?', 2)
  const params = new URLSearchParams(query)
  const request = () => ({
    status: status(),
    apiUrl,
    isRefreshing: params.get('refresh') !== 'off',
    viewer: viewer(),
  })
  if (path === '/') return found(HTML_HEADERS, overviewPage(request()))
  if (path === '/style.css') return found(CSS, STYLE)
  if (path === '/favicon.svg') return found({ ...SVG, 'Cache-Control': 'max-age=3600' }, SIGN.toString())
  if (path === '/status.json') return found(JSON_HEADERS, `${JSON.stringify(statusDocument(status()))}\n`)
  const [, folder, segment = ''] = /^\/(sets|badge)\/([^/]+)$/.exec(path) ?? []
  const name = decoded(segment)
  if (folder === 'sets') return setAnswer(name, request, params)
  if (folder === 'badge' && name?.endsWith('.svg') === true) return badgeAnswer(name.slice(0, -4), status())
  return undefined
}

const CSS = {
  ...HARDENED,
  'Content-Type': 'text/css; charset=utf-8',
  // Pages ask for it by the version of its content.
  'Cache-Control': 'max-age=31536000, immutable',
}
const JSON_HEADERS = {
  ...HARDENED,
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
}

function found(headers: PageAnswer['headers'], body: string): PageAnswer {
  return { status: 200, headers, body }
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    // URIError, the only one there is: a percent sign that begins no character.
    return null
  }
}

function setAnswer(
  name: string | null,
  requested: () => PageRequest,
  params: URLSearchParams,
): PageAnswer | undefined {
  const request = requested()
  const set = request.status.sets.find((one) => one.name === name)
  if (set === undefined) return undefined
  const page = Number(params.get('page') ?? '1')
  const services = { state: stateIn(params), page: Number.isSafeInteger(page) && page >= 1 ? page : 1 }
  return found(HTML_HEADERS, setPage(set, request, services))
}

function stateIn(params: URLSearchParams): ServiceState | null {
  return SERVICE_STATES.find((state) => state === params.get('state')) ?? null
}

function badgeAnswer(name: string, { sets }: ControllerStatus): PageAnswer {
  const set = sets.find((one) => one.name === name)
  return { status: set === undefined ? 404 : 200, headers: BADGE, body: badge(name, set) }
}
