/**
 * Takes a screenshot of every page of the console, in light, dark and phone format, on a real server that checks local
 * targets.
 *
 * npm run screenshots -- FOLDER
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { consoleRoutes } from '../server/console/consoleRoutes.ts'
import { openConsolePage } from '../server/console/testing/consolePage.ts'
import { addSampleHistory, type PastTrouble } from '../server/console/testing/sampleHistory.ts'
import { startConsoleServer } from '../server/console/testing/startConsoleServer.ts'
import { OPERATOR } from '../server/domain/accounts/actor.ts'
import { hashToken, newToken } from '../server/domain/accounts/sessions.ts'
import { startReceiver } from '../server/notifications/testing/receiver.ts'
import { apiClient } from '../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../server/testing/serviceBodies.ts'
import { startTarget } from '../server/testing/target.ts'
import { startBrowser } from '../web/testing/browser.ts'

/** Time for the first states (milliseconds). */
const CHECKED_MS = 15_000
const HOUR_S = 3_600
const DAY_S = 86_400
const HOUR_MS = HOUR_S * 1_000
/** Pages of which only the upper part is needed. */
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
const server = await startConsoleServer({
  ...{ isMonitoring: true, allowedRanges: ['127.0.0.0/8'], webhookRanges: ['127.0.0.0/8'], status: {} },
})
await server.overrideLimits({ intervalSecsMin: 1 })
const owner = await server.signIn('owner', { name: 'Ada Lovelace' })
const api = apiClient(server.url, server.apiKey)
const regions = ['eu-west-1', 'us-east-1', 'sa-east-1']
const headers = { 'user-agent': 'terraform-provider-pharos/0.1.0' }

const definitions = new Map<string, ReturnType<typeof serviceBody>>()

/** Creates a service that is checked every second at first, so that it has a state immediately. */
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
const text = { title: 'Checkout responds with 503', message: 'We are looking into it.' }
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
const receiver = await startReceiver(() => ({ status: 200 }))
const channelForm = {
  ...{
    name: 'Operations',
    kind: 'webhook',
    url: receiver.url,
    events: 'incident.created',
    services: checkout,
  },
}
await owner.client.post(`${owner.actions}/channels`, channelForm)
const [channel] = await server.store.listChannels(server.orgId)
const channelId = channel?.id ?? ''
const delivery = await server.store.testChannel({ id: channelId }, Date.now())
const [invited, forgotten] = [newToken(randomBytes), newToken(randomBytes)]
const invitation = { tokenHash: hashToken(invited), orgId: server.orgId, role: 'member' } as const
const expiresAtMs = Date.now() + HOUR_MS
await server.store.invite({ ...invitation, email: 'grace@example.org', expiresAtMs }, OPERATOR, Date.now())
await server.store.startReset({
  ...{ tokenHash: hashToken(forgotten), email: owner.email, expiresAtMs },
  ...{ by: OPERATOR, nowMs: Date.now() },
})
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
  const { status, text: responseBody } = await api.patch(
    `/v1/services/${id}`,
    { ...body, interval_secs: 30 },
    { headers },
  )
  if (status !== 200) throw new Error(`PATCH responded with ${status}: ${responseBody}`)
}

const ORG = '/o/:org'
/** Names of pictures and addresses of pages, by route. */
const pages: Readonly<Record<string, readonly (readonly [name: string, address: string])[]>> = {
  [`${ORG}/services`]: [
    ['services', 'services'],
    ['wall', 'services?look=wall'],
  ],
  [`${ORG}/services/:id`]: [
    ['service', `services/${checkout}?range=7d`],
    ['healthy', `services/${search}?range=7d`],
  ],
  [`${ORG}/services/:id/edit`]: [['edit', `services/${checkout}/edit`]],
  [`${ORG}/services/new`]: [['new', 'services/new']],
  [`${ORG}/incidents`]: [['incidents', 'incidents']],
  [`${ORG}/incidents/new`]: [['incident-new', 'incidents/new']],
  [`${ORG}/incidents/:id`]: [['incident', `incidents/${Object(incident.json).id}`]],
  [`${ORG}/maintenance`]: [['maintenance', 'maintenance']],
  [`${ORG}/maintenance/new`]: [['maintenance-new', 'maintenance/new']],
  [`${ORG}/maintenance/:id`]: [['maintenance-change', `maintenance/${id}`]],
  [`${ORG}/pages`]: [['pages', 'pages']],
  [`${ORG}/pages/new`]: [['page-new', 'pages/new']],
  [`${ORG}/pages/:id`]: [['page', `pages/${pageId}`]],
  [`${ORG}/channels`]: [['channels', 'channels']],
  [`${ORG}/channels/new`]: [['channel-new', 'channels/new']],
  [`${ORG}/channels/:id`]: [['channel', `channels/${channelId}`]],
  [`${ORG}/channels/:id/edit`]: [['channel-edit', `channels/${channelId}/edit`]],
  [`${ORG}/channels/:id/deliveries/:delivery`]: [
    ['delivery', `channels/${channelId}/deliveries/${delivery}`],
  ],
  [`${ORG}/sync`]: [['sync', 'sync']],
  [`${ORG}/settings/keys`]: [['keys', 'settings/keys']],
  [`${ORG}/settings/members`]: [['members', 'settings/members']],
  [`${ORG}/settings/organisation`]: [['organisation', 'settings/organisation']],
  [`${ORG}/settings/audit`]: [['audit', 'settings/audit']],
  '/me': [['me', '/me']],
}
/** Pages without a session. */
const outside: typeof pages = {
  '/login': [['login', '/login']],
  '/invite/:token': [['invite', `/invite/${invited}`]],
  '/reset/:token': [['reset', `/reset/${forgotten}`]],
}
/** Routes that redirect to another page, or have no page. */
const WITHOUT_PICTURE = ['/', ORG, `${ORG}/live`, `${ORG}/settings/audit.csv`]
const missing = consoleRoutes.filter(
  ({ method, path }) =>
    method === 'GET' && !(path in pages) && !(path in outside) && !WITHOUT_PICTURE.includes(path),
)
if (missing.length > 0)
  throw new Error(`pages without a picture: ${missing.map(({ path }) => path).join(', ')}`)

const browser = await startBrowser()
for (const [view, options] of VIEWS) {
  for (const [of, person] of [
    [pages, owner],
    [outside, undefined],
  ] as const) {
    const { page: shown, close } = await openConsolePage(
      browser,
      { consoleUrl: server.consoleUrl, person },
      options,
    )
    for (const [name, address] of Object.values(of).flat()) {
      await shown.goto(new URL(address, `${server.consoleUrl}${owner.root}/`).href)
      await shown.screenshot({ path: join(folder, `${name}-${view}.png`), fullPage: !CUT.includes(name) })
    }
    await close()
  }
}
await browser.close()
await server.close()
await receiver.close()
good.close()
bad.close()
