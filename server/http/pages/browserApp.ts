import type { FastifyInstance, FastifyReply } from 'fastify'
import type { CertificateSource } from '../transport/certificate.ts'
import { limitConnections } from '../../../api/runtime/connectionLimits.ts'
import { refuseConnection, refuseExpectations, refuseTunnels } from '../transport/connectionRefusals.ts'
import { watchResponses } from '../transport/gracefulClose.ts'
import { listeningWith } from '../transport/listeningWith.ts'
import { TIMEOUTS } from '../transport/timeouts.ts'

/**
 * Maximum number of unread responses on one connection. Browsers wait for a response before the next request, and a
 * page has a hundred kilobytes.
 */
const RESPONSES_WAITING_MAX = 16

/**
 * Fastify for browsers, without routes: timeouts and connection limits as for the API, and a graceful stop. The routes
 * parse the query. `refuseMalformed` handles a request that Fastify cannot route, and one with two Host headers, of
 * which a proxy may have checked the other one.
 */
export function browserApp(
  connectionsMax: number,
  refuseMalformed: (reply: FastifyReply) => FastifyReply,
  tls?: CertificateSource,
): FastifyInstance {
  const app = listeningWith(
    tls,
    { connectionsCheckingInterval: TIMEOUTS.checkMs },
    {
      requestTimeout: TIMEOUTS.requestMs,
      keepAliveTimeout: TIMEOUTS.keepAliveMs,
      connectionTimeout: TIMEOUTS.silenceMs,
      return503OnClosing: false,
      forceCloseConnections: 'idle',
      routerOptions: { querystringParser: () => ({}) },
      clientErrorHandler: refuseConnection,
      frameworkErrors: (_error, _request, reply) => refuseMalformed(reply),
    },
  )
  app.server.headersTimeout = TIMEOUTS.headersMs
  const { server } = app
  const responses = watchResponses(server, RESPONSES_WAITING_MAX)
  limitConnections(server, { connectionsMax, isIdle: responses.isIdle, onEnd: () => {} })
  refuseExpectations(server, responses)
  refuseTunnels(server)
  app.addHook('preClose', responses.stop)
  app.addHook('onRequest', (request, reply, next) => {
    if (hasOneHost(request.raw.rawHeaders)) next()
    else refuseMalformed(reply.header('connection', 'close'))
  })
  return app
}

/**
 * Whether raw headers (name, value, name, value …) have at most one Host. Node keeps only the first of several. Pure.
 */
function hasOneHost(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts <= 1
}
