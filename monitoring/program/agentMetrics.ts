import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { SyncRequest } from '../protocol/messages.ts'

/** Gauges of prom-client that end in `_total`, which belongs to counters: `promtool check metrics` refuses them. */
const MISNAMED_GAUGES = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
]

/** What is shown of an agent. */
export type AgentFigures = SyncRequest['load'] & {
  readonly isConnected: boolean
  /** Results that the server refused. */
  readonly refused: number
}

/** The agent's figures on 127.0.0.1. */
export interface AgentMetrics {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Serves /metrics on `port`, 0 for any free one. Rejects when that is taken. */
export async function serveMetrics(port: number, figures: () => AgentFigures): Promise<AgentMetrics> {
  const registry = registryOf(figures)
  const server = createServer((request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') return void response.writeHead(404).end()
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ host: '127.0.0.1', port }, resolve)
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

function registryOf(figures: () => AgentFigures): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name)
  const registers = [registry]
  const gauge = (name: string, help: string, value: (shown: AgentFigures) => number): void => {
    new Gauge({
      ...{ name: `pharos_agent_${name}`, help, registers },
      collect() {
        this.set(value(figures()))
      },
    })
  }
  const counter = (name: string, help: string, value: (shown: AgentFigures) => number): void => {
    new Counter({
      ...{ name: `pharos_agent_${name}_total`, help, registers },
      collect() {
        this.reset()
        this.inc(value(figures()))
      },
    })
  }
  gauge('connected', '1 after an answer of the server, 0 after a failure', ({ isConnected }) =>
    Number(isConnected),
  )
  gauge('checks_in_flight', 'Checks under way', ({ in_flight }) => in_flight)
  gauge(
    'scheduler_lag_seconds',
    'p99 of start - due of the last checks',
    ({ lag_p99_ms }) => lag_p99_ms / 1_000,
  )
  gauge('results_waiting', 'Results in the backlog', ({ spooled }) => spooled)
  gauge(
    'clock_ahead_seconds',
    'Wall clock of this machine - clock of the server',
    ({ clock_ahead_ms }) => clock_ahead_ms / 1_000,
  )
  counter('slots_skipped', 'Slots that were noticed too late', ({ skipped }) => skipped)
  counter('results_dropped', 'Results that were given up', ({ dropped }) => dropped)
  counter('results_refused', 'Results that the server refused', ({ refused }) => refused)
  return registry
}
