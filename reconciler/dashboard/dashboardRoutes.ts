import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SERVICE_STATES } from '../controller/status/labels.ts'
import type { ControllerStatus } from '../controller/status/status.ts'
import { badge } from './badge.ts'
import { BADGE_HEADERS, CSS_HEADERS, HTML_HEADERS, ICON_HEADERS, JSON_HEADERS } from './headers.ts'
import { LOGO } from './icons.ts'
import { overviewPage } from './overviewPage.ts'
import { noSetPage, type ServicesRequest, setPage } from './setPage.ts'
import { statusDocument } from './statusDocument.ts'
import { STYLE } from './style.ts'
import type { PageRequest, Viewer } from './viewer.ts'

/** Inputs of the pages besides the status. */
export interface DashboardOptions {
  /** Public address of the page; null when not configured. */
  readonly publicUrl: string | null
  /** Whether the routes below /api are enabled. */
  readonly hasApi: boolean
  /** The viewer of a page. Called once for each page, because it consumes the viewer's message. */
  readonly viewerOf: (request: FastifyRequest) => Viewer
}

/** Placeholder in commands for an address that is not configured. */
const UNKNOWN_URL = '$PHAROS_CONTROLLER'

interface Route {
  Params: { readonly set: string }
  Querystring: Readonly<Record<string, unknown>>
}

/** Adds the pages, the status as JSON and the badges. `status` is called for each request. */
export function addDashboardRoutes(
  app: FastifyInstance,
  status: () => ControllerStatus,
  { publicUrl, hasApi, viewerOf }: DashboardOptions,
): void {
  const apiUrl = hasApi ? (publicUrl?.replace(/\/+$/, '') ?? UNKNOWN_URL) : null
  const pageRequest = (request: FastifyRequest<Route>): PageRequest => {
    const viewer = viewerOf(request)
    // A refresh would remove the reason why nothing was done.
    const isRefused = viewer.kind === 'person' && viewer.message?.isDone === false
    return { status: status(), apiUrl, isRefreshing: request.query.refresh !== 'off' && !isRefused, viewer }
  }
  app.get<Route>('/', async (request, reply) =>
    reply.headers(HTML_HEADERS).send(overviewPage(pageRequest(request))),
  )
  app.get('/style.css', async (_request, reply) => reply.headers(CSS_HEADERS).send(STYLE))
  app.get('/favicon.svg', async (_request, reply) => reply.headers(ICON_HEADERS).send(LOGO.toString()))
  app.get('/status.json', async (_request, reply) =>
    reply.headers(JSON_HEADERS).send(statusDocument(status())),
  )
  app.get<Route>('/sets/:set', async (request, reply) => {
    const page = pageRequest(request)
    const set = page.status.sets.find(({ name }) => name === request.params.set)
    reply.code(set === undefined ? 404 : 200).headers(HTML_HEADERS)
    return reply.send(set === undefined ? noSetPage(page) : setPage(set, page, servicesIn(request.query)))
  })
  app.get<Route>('/badge/:set.svg', async ({ params }, reply) => {
    const set = status().sets.find(({ name }) => name === params.set)
    return reply
      .code(set === undefined ? 404 : 200)
      .headers(BADGE_HEADERS)
      .send(badge(params.set, set))
  })
}

function servicesIn(query: Route['Querystring']): ServicesRequest {
  const page = Number(query.page ?? 1)
  const state = SERVICE_STATES.find((one) => one === query.state) ?? null
  return { state, page: Number.isSafeInteger(page) && page >= 1 ? page : 1 }
}
