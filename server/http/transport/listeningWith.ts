import type { Server, ServerOptions } from 'node:http'
import { type FastifyHttpOptions, type FastifyInstance, fastify } from 'fastify'
import { type CertificateSource, followCertificate } from './certificate.ts'
import { TIMEOUTS } from './timeouts.ts'

/**
 * Fastify without routes, on HTTP, or on HTTPS with the certificate `tls`. `server` has the options of Node's server.
 * The time limit of a handshake is that of headers.
 */
export function listeningWith(
  tls: CertificateSource | undefined,
  server: ServerOptions,
  options: Omit<FastifyHttpOptions<Server>, 'http'>,
): FastifyInstance {
  if (tls === undefined) return fastify({ ...options, http: server })
  const https = { ...server, handshakeTimeout: TIMEOUTS.headersMs, ...tls.current() }
  // True for every member that is used: an HTTPS server has the methods and events of an HTTP server.
  const app = fastify({ ...options, https } as FastifyHttpOptions<Server>) as FastifyInstance
  followCertificate(app.server, tls)
  return app
}
