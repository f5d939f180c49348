/**
 * Makes a picture of every page of the console, in light and dark and on a phone, of a real server that checks local targets.
 *
 * npm run screenshots -- FOLDER
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR } from '../server/domain/accounts/actor.ts'
import { openConsolePage } from '../server/console/testing/consolePage.ts'
import { addSampleHistory, type PastTrouble } from '../server/console/testing/sampleHistory.ts'
import { startConsoleServer } from '../server/console/testing/startConsoleServer.ts'
import { apiClient } from '../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../server/testing/serviceBodies.ts'
import { startTarget } from '../server/testing/target.ts'
import { startBrowser } from '../web/testing/browser.ts'

/** Time for the first states (milliseconds). */
const CHECKED_MS = 15_000
const HOUR_S = 3_600
const DAY_S = 86_400
const HOUR_MS = HOUR_S * 1_000
/** Pages whose upper part is enough. */
const CUT = ['service', 'healthy']
const VIEWS = [
  ['light', { colorScheme: 'light', viewport: { width: 1_280, height: 860 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1_280, height: 860 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 800 } }],
] as const

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder for the pictures: npm run screenshots -- FOLDER')
mkdirSync(folder, { recursive: true })
const [good, bad] = [await startTarget(), await startTarget()]
bad.status = 503
const server = await startConsoleServer({ isMonitoring: true, allowedRanges: ['127.0.0.0/8'], status: {} })
await server.overrideLimits({ intervalSecsMin: 1 })
const owner = await server.signIn('owner', { name: 'Ada Lovelace' })
const api = apiClient(server.url, server.apiKey)
const regions = ['eu-west-1', 'us-east-1', 'sa-east-1']
const headers = { 'user-agent': 'terraform-provider-pharos/0.1.0' }

const definitions = new Map<string, ReturnType<typeof serviceBody>>()

/** Checked every second at first, so that there are states at once. */
async function create(name: string, url: string): Promise<string> {
  const body = serviceBody({ name, regions, interval_secs: 1, endpoints: [endpointBody({ url })] })
  const id = String(Object((await api.post('/v1/services', body, { headers })).json).id)
  definitions.set(id, body)
  return id
}

const checkout = await create('Checkout', bad.url('/health'))
const search = await create('Search', good.url('/search'))
const login = await create('Login', good.url('/login'))
const invoices = await create('Invoices', good.url('/invoices'))
await create('Returns', 'http://10.0.0.1/returns')
await api.post(`/v1/services/${invoices}/pause`)
const text = { title: 'Checkout answers 503', message: 'We are looking into it.' }
const incident = await api.post('/v1/incidents', {
  ...text,
  severity: 'major_outage',
  service_ids: [checkout],
})
const id = crypto.randomUUID()
const from = new Date(Date.now() - HOUR_MS).toISOString()
const until = new Date(Date.now() + HOUR_MS).toISOString()
const window = { id, orgId: server.orgId, title: 'Database upgrade', serviceIds: [login] }
await server.store.createMaintenance({ ...window, startsAt: from, endsAt: until }, OPERATOR, Date.now())
const page = {
  slug: 'example',
  title: 'Example status',
  sections: [
    {
      name: 'Shop',
      components: [
        { serviceId: checkout, name: 'Checkout' },
        { serviceId: search, name: 'Search' },
      ],
    },
  ],
}
const pageId = crypto.randomUUID()
await server.store.createStatusPage({ id: pageId, orgId: server.orgId, nowMs: Date.now(), settings: page })
await owner.client.post(`${owner.actions}/keys`, { note: 'Terraform in CI', scope: 'read_write' })
await sleep(CHECKED_MS)
const past = (id: string, latencyMs: number, troubles: readonly PastTrouble[]) => ({
  id,
  regions,
  latencyMs,
  troubles,
})
addSampleHistory(
  server.dataDir,
  [
    past(checkout, 210, [
      { agoS: 61 * DAY_S, forS: 1.5 * HOUR_S, state: 'down' },
      { agoS: 23 * DAY_S, forS: 2 * HOUR_S, state: 'degraded' },
      { agoS: 0.4 * HOUR_S, forS: HOUR_S, state: 'down' },
    ]),
    past(search, 95, [{ agoS: 12 * DAY_S, forS: 0.5 * HOUR_S, state: 'degraded' }]),
    past(login, 140, [{ agoS: 40 * DAY_S, forS: 0.7 * HOUR_S, state: 'down' }]),
  ],
  Math.floor(Date.now() / 1_000),
)
for (const [id, body] of definitions) {
  const { status, text: answer } = await api.patch(
    `/v1/services/${id}`,
    { ...body, interval_secs: 30 },
    { headers },
  )
  if (status !== 200) throw new Error(`PATCH answered ${status}: ${answer}`)
}

const paths = {
  ...{
    services: 'services',
    service: `services/${checkout}?range=7d`,
    healthy: `services/${search}?range=7d`,
  },
  ...{ edit: `services/${checkout}/edit`, new: 'services/new', wall: 'services?look=wall' },
  ...{ incidents: 'incidents', incident: `incidents/${Object(incident.json).id}` },
  ...{ maintenance: 'maintenance', pages: 'pages', page: `pages/${pageId}`, channels: 'channels' },
  ...{ sync: 'sync', keys: 'settings/keys', members: 'settings/members' },
  ...{ organisation: 'settings/organisation', audit: 'settings/audit' },
}
const browser = await startBrowser()
for (const [view, options] of VIEWS) {
  const opened = await openConsolePage(browser, { consoleUrl: server.consoleUrl, person: owner }, options)
  for (const [name, path] of Object.entries(paths)) {
    await opened.page.goto(`${server.consoleUrl}${owner.root}/${path}`)
    await opened.page.screenshot({ path: join(folder, `${name}-${view}.png`), fullPage: !CUT.includes(name) })
  }
  await opened.close()
}
await browser.close()
await server.close()
good.close()
bad.close()
