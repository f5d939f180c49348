/**
 * The targets of the benchmarks, in a separate process, so that their work counts for neither side: many ports, because
 * real endpoints are on many hosts, one of them over TLS, and `/sleep/MS`. The reply to each message is the number of
 * requests so far.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { testAuthority } from '../../monitoring/check/testing/certificates.ts'

/** Addresses of the targets. */
export interface Targets {
  readonly urls: readonly string[]
  readonly tlsUrl: string
  /** CA certificate (PEM). */
  readonly authorities: string
}

const PORTS = 200

let requests = 0
const respond: RequestListener = ({ url = '/' }, response) => {
  requests += 1
  const sleepMs = Number(/^\/sleep\/(\d+)$/.exec(url)?.[1] ?? 0)
  const end = (): void =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end('ready: version 1.2\n')
  if (sleepMs === 0) end()
  else setTimeout(end, sleepMs)
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  return (server.address() as AddressInfo).port
}

const authority = testAuthority()
const ports = await Promise.all(Array.from({ length: PORTS }, () => listen(createServer(respond))))
const targets: Targets = {
  urls: ports.map((port) => `http://127.0.0.1:${port}/`),
  tlsUrl: `https://localhost:${await listen(createTlsServer(authority.valid, respond))}/`,
  authorities: authority.authorities,
}
process.send?.(targets)
process.on('message', () => process.send?.(requests))
process.on('disconnect', () => process.exit(0))
