import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as TlsHttpServer } from 'node:https'
import { ApiError } from '../../../api/contract/apiError.ts'
import { type CertificateSource, followCertificate } from './certificate.ts'
import { refuseConnection, refuseTunnels } from './connectionRefusals.ts'
import { TIMEOUTS } from './timeouts.ts'

/** How a server responds. */
interface Handling {
  readonly respond: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Responds to a request for which `respond` rejected, and to an unknown Expect. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, error: unknown) => void
}

/**
 * Node's server on HTTP, or on HTTPS with the certificate `tls`, not yet listening. It has the time limits of the API,
 * and refuses tunnels and input that is not a request.
 */
export function plainServer(
  tls: CertificateSource | undefined,
  given: ServerOptions,
  { respond, refuse }: Handling,
): Server | TlsHttpServer {
  const options = {
    headersTimeout: TIMEOUTS.headersMs,
    requestTimeout: TIMEOUTS.requestMs,
    connectionsCheckingInterval: TIMEOUTS.checkMs,
    handshakeTimeout: TIMEOUTS.headersMs,
    ...given,
  }
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    respond(request, response).catch((error: unknown) => refuse(request, response, error))
  }
  const server =
    tls === undefined
      ? createServer(options, handle)
      : createTlsServer({ ...options, ...tls.current() }, handle)
  followCertificate(server, tls)
  server.on('clientError', refuseConnection)
  refuseTunnels(server)
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(request, response, new ApiError('expectation_failed', 'expectation is not supported'))
  })
  return server
}
