import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Gauge, type Registry } from 'prom-client'
import { limitKeylessConnections } from '../../api/runtime/connectionLimits.ts'
import { createRegistry } from '../../api/runtime/processMetrics.ts'
import { AGENT_METRICS, type AgentLoad } from '../protocol/agentStats.ts'

/** Maximum number of connections, which share the descriptors of the process with its checks. */
const CONNECTIONS_MAX = 24

/** The stats of an agent in its metrics. */
export type AgentStats = AgentLoad & {
  readonly isConnected: boolean
  /** Number of results that the server refused. */
  readonly refused: number
}

/** The metrics server of an agent, on 127.0.0.1. */
export interface AgentMetrics {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Serves /metrics on `port`, or on any free one for 0. Rejects when the port is in use. */
export async function serveMetrics(port: number, stats: () => AgentStats): Promise<AgentMetrics> {
  const registry = registryOf(stats)
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.destroy(),
    )
  })
  limitKeylessConnections(server, CONNECTIONS_MAX)
  await new Promise<void>((resolve, reject) => {
    server
      .once('error', (error: NodeJS.ErrnoException) => reject(portError(error, port)))
      .listen({ host: '127.0.0.1', port }, resolve)
  })
  // True because the server listens on TCP.
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function registryOf(stats: () => AgentStats): Registry {
  const registry = createRegistry()
  const registers = [registry]
  const add = (name: string, help: string, value: (shown: AgentStats) => number): void => {
    const options = { name, help, registers }
    if (name.endsWith('_total')) {
      new Counter({
        ...options,
        collect() {
          this.reset()
          this.inc(value(stats()))
        },
      })
    } else
      new Gauge({
        ...options,
        collect() {
          this.set(value(stats()))
        },
      })
  }
  for (const { name, help, value } of AGENT_METRICS) add(name, help, value)
  add('pharos_agent_connected', '1 after a response from the server, 0 after a failure', ({ isConnected }) =>
    Number(isConnected),
  )
  add('pharos_agent_results_refused_total', 'Results that the server refused', ({ refused }) => refused)
  return registry
}

function portError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error
  return new Error(`port ${port} is taken by another program: use another --metrics-port`, { cause: error })
}
