import type { FastifyInstance, FastifyReply } from 'fastify'
import type { CertificateSource } from '../transport/certificate.ts'
import { limitConnections } from '../../../api/runtime/connectionLimits.ts'
import { countHosts, refuseExpectations, refuseTunnels } from '../transport/connectionRefusals.ts'
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
  const app = listeningWith(tls, TIMEOUTS, {
    frameworkErrors: (_error, _request, reply) => refuseMalformed(reply),
  })
  const { server } = app
  const responses = watchResponses(server, RESPONSES_WAITING_MAX)
  limitConnections(server, { connectionsMax, isIdle: responses.isIdle, onEnd: () => {} })
  refuseExpectations(server, responses)
  refuseTunnels(server)
  app.addHook('preClose', responses.stop)
  app.addHook('onRequest', (request, reply, next) => {
    // Node keeps only the first of several.
    if (countHosts(request.raw.rawHeaders) <= 1) next()
    else refuseMalformed(reply.header('connection', 'close'))
  })
  return app
}
