import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../controller/http/refusal.ts'
import type { ControllerStatus } from '../controller/status/status.ts'
import { pageFor } from './pages.ts'
import type { Viewer } from './viewer.ts'

/** Inputs of the pages besides the status. */
export interface DashboardOptions {
  /** Public address of the page; null when not configured. */
  readonly publicUrl: string | null
  /** Whether the routes below /api are enabled. */
  readonly hasApi: boolean
  /** The viewer of a page. Called once for each page, because it consumes the viewer's message. */
  readonly viewerOf: (request: FastifyRequest) => Viewer
}

const PATHS = ['/', '/style.css', '/favicon.svg', '/status.json', '/sets/:set', '/badge/:file'] as const

/** Placeholder in commands for an address that is not configured. */
const UNKNOWN_URL = '$PHAROS_CONTROLLER'

/** Adds the pages, the status as JSON and the badges. `status` is called for each request. */
export function addDashboardRoutes(
  app: FastifyInstance,
  status: () => ControllerStatus,
  { publicUrl, hasApi, viewerOf }: DashboardOptions,
): void {
  const apiUrl = hasApi ? (publicUrl?.replace(/\/+$/, '') ?? UNKNOWN_URL) : null
  for (const path of PATHS) {
    app.get(path, async (request, reply) => {
      const response = pageFor(request.url, status, { apiUrl, viewer: () => viewerOf(request) })
      if (response === undefined) throw new Refusal(404, 'not found')
      return reply.code(response.status).headers(response.headers).send(response.body)
    })
  }
}
