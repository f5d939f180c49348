import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import type { Incident } from '../../api/contract/incident.ts'
import type { ShownState } from '../../web/stateShapes.ts'
import { createByHand } from './byHand.ts'
import type { DemoParts, DemoRunner } from './demoRunner.ts'
import type { RunningServer } from './serverChapter.ts'

interface MonitoringParts extends Omit<DemoParts, 'root'> {
  readonly server: Pick<RunningServer, 'orgId' | 'statusUrl' | 'consoleUrl'>
}

/** Check interval (seconds). Shorter than the plan allows, so that the demo takes seconds, not minutes. */
const INTERVAL_S = 1

/** A real local target responds, breaks and recovers. The server notices each change, sends it and shows it. */
export async function demoMonitoring(parts: MonitoringParts): Promise<void> {
  const { demo, shell, server, byHand } = parts
  demo.chapter('4. A service breaks, and its incident opens by itself')
  const target = await startTarget()
  try {
    const org = `--data-dir data --org ${server.orgId}`
    await demo.type(`pharos-server plan limits ${org} --interval-secs-min ${INTERVAL_S}`, shell)
    await demo.type(`pharos-server org auto-incidents ${org} --threshold 3 --window 1`, shell)
    const serviceId = await createByHand(demo, byHand, {
      name: 'Payments',
      interval_secs: INTERVAL_S,
      regions: ['eu-west-1'],
      url: target.url,
      assertions: [],
    })
    await demo.endStep('inspected')
    const channel = `pharos-server channel create ${org} --kind webhook --name on-call --url ${target.hookUrl} --json`
    target.trust(JSON.parse((await demo.type(channel, shell)).stdout).secret)
    const page = `${server.statusUrl}/s/shop`
    const components = `--title "Example Shop" --service ${serviceId}=Payments`
    await demo.type(`pharos-server status-page create ${org} --slug shop ${components}`, shell)
    demo.outcome(`status page on ${page}`)
    const states = `pharos-server states ${org} | grep Payments`
    const wait = (state: string) => demo.typeUntil(states, shell, (output) => output.includes(`  ${state}  `))
    demo.outcome(shortState(await wait('up')))
    demo.say('The target responds with 503 from now on:')
    target.respondWith(503)
    demo.outcome(shortState(await wait('down')))
    showIncident(demo, await incidentOf(parts, serviceId, 'investigating'))
    demo.outcome(
      `the webhook received ${await demo.until('a webhook', async () => target.events[0])}, signed`,
    )
    demo.outcome(`the status page says "${await headlineOf(demo, page)}"`)
    const invite = `pharos-server owner invite ${org} --email ada@shop.example --console-url ${server.consoleUrl} --json`
    const { url: link }: { readonly url: string } = JSON.parse((await demo.type(invite, shell)).stdout)
    demo.outcome(`an owner opens ${link}: "${await titleOf(demo, link)}"`)
    demo.say('It recovers:')
    target.respondWith(200)
    demo.outcome(shortState(await wait('up')))
    showIncident(demo, await incidentOf(parts, serviceId, 'monitoring'))
    await demo.endStep('inspected')
  } finally {
    target.close()
  }
}

/** The title of the page at `url`. */
async function titleOf(demo: DemoRunner, url: string): Promise<string> {
  const page = await demo.until('the console', async () => (await fetch(url)).text())
  return /<title>(.*?)<\/title>/.exec(page)?.[1] ?? 'no title'
}

/** Starts a server that is checked and receives webhooks. */
async function startTarget() {
  let status = 200
  let secret = ''
  const events: string[] = []
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(status).end('ok')
    const body = await text(request)
    try {
      // True because Node returns an array only for Set-Cookie.
      new Webhook(secret).verify(body, request.headers as Record<string, string>)
    } catch {
      return response.writeHead(400).end('wrong signature')
    }
    events.push(JSON.parse(body).type)
    return response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/pay`,
    hookUrl: `http://127.0.0.1:${port}/hook`,
    /** Types of the received events whose signature was correct. */
    events,
    respondWith: (next: number): void => {
      status = next
    },
    trust: (key: string): void => {
      secret = key
    },
    close: (): void => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Parts of a status page's JSON that the demo shows. */
interface PageState {
  readonly state: ShownState
  readonly headline: string
}

/** The headline of the page, once it shows the outage. */
function headlineOf(demo: DemoRunner, page: string): Promise<string> {
  demo.request(`GET ${page}/status.json`)
  return demo.until('a status page that shows the outage', async () => {
    const shown = await fetch(`${page}/status.json`)
    const { state, headline }: PageState = JSON.parse(await shown.text())
    return state === 'operational' || state === 'unknown' ? undefined : headline
  })
}

/** The automatic incident of the service, once it has `status`. */
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
