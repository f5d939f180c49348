import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../controller/http/refusal.ts'
import type { ControllerStatus } from '../controller/status/status.ts'
import { pageFor } from './pages.ts'
import type { Viewer } from './viewer.ts'

/** What the pages say besides the status. */
export interface DashboardOptions {
  /** How people reach the page; null when the configuration does not say. */
  readonly publicUrl: string | null
  /** Whether the routes below /api may be used. */
  readonly hasApi: boolean
  /** Who looks at a page. Asked once for each, because it hands out the message of that person. */
  readonly viewerOf: (request: FastifyRequest) => Viewer
}

const PATHS = ['/', '/style.css', '/favicon.svg', '/status.json', '/sets/:set', '/badge/:file'] as const

/** Stands in commands for an address that the configuration does not say. */
const UNKNOWN_URL = '$PHAROS_CONTROLLER'

/** Adds the pages, the status as JSON and the badges. `status` is asked anew for each request. */
export function addDashboardRoutes(
  app: FastifyInstance,
  status: () => ControllerStatus,
  { publicUrl, hasApi, viewerOf }: DashboardOptions,
): void {
  const apiUrl = hasApi ? (publicUrl?.replace(/\/+$/, '') ?? UNKNOWN_URL) : null
  for (const path of PATHS) {
    app.get(path, async (request, reply) => {
      const answer = pageFor(request.url, status, { apiUrl, viewer: () => viewerOf(request) })
      if (answer === undefined) throw new Refusal(404, 'there is no such set')
      return reply.code(answer.status).headers(answer.headers).send(answer.body)
    })
  }
}
