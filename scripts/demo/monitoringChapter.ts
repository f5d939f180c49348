import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../api/client/client.ts'
import type { Incident } from '../../api/contract/incident.ts'
import type { DemoRunner, DemoShell } from './demoRunner.ts'

export interface MonitoringParts {
  readonly demo: DemoRunner
  readonly shell: DemoShell
  readonly orgId: string
  readonly byHand: Client
}

/** Shorter than the plan allows: the demo takes seconds, not minutes (seconds). */
const INTERVAL_S = 1

/** A real local target answers, breaks and recovers; the server notices each. */
export async function demoMonitoring(parts: MonitoringParts): Promise<void> {
  const { demo, shell, orgId, byHand } = parts
  demo.chapter('4. A service breaks, and its incident opens by itself')
  const target = await startTarget()
  try {
    const org = `--data-dir data --org ${orgId}`
    await demo.type(`pharos-server plan limits ${org} --interval-secs-min ${INTERVAL_S}`, shell)
    await demo.type(`pharos-server org auto-incidents ${org} --threshold 3 --window 1`, shell)
    const serviceId = await createService(demo, byHand, target.url)
    const states = `pharos-server states ${org} | grep Payments`
    const wait = (state: string) => demo.typeUntil(states, shell, (output) => output.includes(`  ${state}  `))
    demo.outcome(shortState(await wait('up')))
    demo.say('The target answers 503 from now on:')
    target.answer(503)
    demo.outcome(shortState(await wait('down')))
    showIncident(demo, await incidentOf(parts, serviceId, 'investigating'))
    demo.say('It recovers:')
    target.answer(200)
    demo.outcome(shortState(await wait('up')))
    showIncident(demo, await incidentOf(parts, serviceId, 'monitoring'))
    await demo.endStep('inspected')
  } finally {
    target.close()
  }
}

async function startTarget() {
  let status = 200
  const server = createServer((_, response) => response.writeHead(status).end('ok'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/pay`,
    answer: (next: number): void => {
      status = next
    },
    close: (): void => {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function createService(demo: DemoRunner, client: Client, url: string): Promise<string> {
  demo.request(`POST /v1/services  { "name": "Payments", "interval_secs": ${INTERVAL_S}, … }`)
  const { id } = await client.createService(
    {
      name: 'Payments',
      interval_secs: INTERVAL_S,
      regions: ['eu-west-1'],
      endpoints: [{ url, call: { Http: { method: 'GET', timeout: null } }, assertions: [] }],
    },
    randomUUID(),
  )
  await demo.endStep('inspected')
  return id
}

/** The automatic incident of the service as soon as it has `status`. */
async function incidentOf(
  { demo, byHand }: MonitoringParts,
  serviceId: string,
  status: Incident['status'],
): Promise<Incident> {
  demo.request('GET /v1/incidents?section=active')
  return demo.until(`an incident that is ${status}`, async () => {
    const { items } = await byHand.incidents.list({ section: 'active', serviceIds: [serviceId] })
    return items.find((incident) => incident.status === status)
  })
}

function showIncident(demo: DemoRunner, { display_id, title, status, updates }: Incident): void {
  demo.outcome(`${display_id} (${status}): ${title}\n${updates.at(-1)?.body}`)
}

/** A row of `states` without the id of the service. */
function shortState(row: string): string {
  return row.trim().split(/ {2,}/).slice(1).join('  ')
}
