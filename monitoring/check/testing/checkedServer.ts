import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Assertion } from '../../../api/contract/assertion.ts'
import type { EndpointInput } from '../../../api/contract/service.ts'
import { type CheckSettings, openCheckTools } from '../checkTools.ts'
import { prepareCheck } from '../prepareCheck.ts'
import { type CheckResult, type CheckRun, runCheck } from '../runCheck.ts'
import type { ServerCertificate } from './certificates.ts'

/** A server on loopback that counts its connections. */
export interface CheckedServer {
  readonly port: number
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** Starts an HTTP server at `host`, or an HTTPS server with `certificate`, on any free port unless one is given. */
export function startHttpServer(
  listener: RequestListener,
  {
    certificate,
    host,
    port,
  }: { readonly certificate?: ServerCertificate; readonly host?: string; readonly port?: number } = {},
): Promise<CheckedServer> {
  const server =
    certificate === undefined ? createHttpServer(listener) : createHttpsServer(certificate, listener)
  return listening(server, host, port)
}

/** Starts a server that passes each connection to `handle`. */
export function startRawServer(handle: (socket: Socket) => void): Promise<CheckedServer> {
  return listening(
    createServer((socket) => {
      socket.on('error', () => {})
      handle(socket)
    }),
  )
}

/**
 * Starts a server that responds to every request with `bytes`, and then ends the connection unless it is kept `open`.
 */
export function startByteServer(bytes: string, end: 'ended' | 'open' = 'ended'): Promise<CheckedServer> {
  return startRawServer((socket) => {
    socket.once('data', () => {
      socket.write(bytes, 'latin1')
      if (end === 'ended') socket.end()
    })
  })
}

async function listening(server: Server, host = '127.0.0.1', port = 0): Promise<CheckedServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    // True because the server listens on a TCP port.
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The settings that a test gives for an endpoint. The default is a GET without assertions and a timeout of 10 s. */
export interface EndpointSettings {
  readonly url: string
  readonly assertions?: readonly Assertion[]
  readonly http?: Partial<EndpointInput['call']['Http']>
}

/** The result of a check of `wish`, on a machine that may check itself. */
export async function checkOf(
  { url, assertions = [], http = {} }: EndpointSettings,
  settings: Partial<CheckSettings> = {},
  run: Partial<CheckRun> = {},
): Promise<CheckResult> {
  const tools = openCheckTools({
    allowedRanges: ['127.0.0.0/8', '::1/128'],
    userAgent: 'pharos/test',
    ...settings,
  })
  try {
    const call = { Http: { method: 'GET' as const, timeout: null, ...http } }
    const check = prepareCheck({ url, call, assertions: [...assertions] }, { org: 'test', series: 'test' })
    return await runCheck(check, tools, { attemptIndex: 0, confirmAfterMs: () => undefined, ...run })
  } finally {
    await tools.close()
  }
}
