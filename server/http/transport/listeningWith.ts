import type { Server } from 'node:http'
import { type FastifyHttpOptions, type FastifyInstance, fastify } from 'fastify'
import { type CertificateSource, followCertificate } from './certificate.ts'
import { refuseConnection } from './connectionRefusals.ts'
import { TIMEOUTS, type Timeouts } from './timeouts.ts'

/**
 * Fastify without routes, on HTTP, or on HTTPS with the certificate `tls`, with `timeouts` for its clients. The time
 * limit of a handshake is that of headers. When it closes, idle connections end.
 */
export function listeningWith(
  tls: CertificateSource | undefined,
  { requestMs, headersMs, keepAliveMs, silenceMs, checkMs }: Timeouts,
  { http: given, routerOptions, ...options }: FastifyHttpOptions<Server>,
): FastifyInstance {
  const http = { ...given, connectionsCheckingInterval: checkMs }
  const all = {
    ...options,
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    // Otherwise the response to a client that never reads would be kept forever.
    connectionTimeout: silenceMs,
    return503OnClosing: false,
    forceCloseConnections: 'idle' as const,
    routerOptions: { ...routerOptions, querystringParser: () => ({}) },
    clientErrorHandler: refuseConnection,
  }
  const https = tls && { ...http, handshakeTimeout: TIMEOUTS.headersMs, ...tls.current() }
  // True for every member that is used: an HTTPS server has the methods and events of an HTTP server.
  const app = fastify((https ? { ...all, https } : { ...all, http }) as FastifyHttpOptions<Server>)
  followCertificate(app.server, tls)
  app.server.headersTimeout = headersMs
  return app
}
