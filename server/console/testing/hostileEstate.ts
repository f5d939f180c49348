import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOURCE_HEADER } from '../../../api/contract/changeSource.ts'
import { PAYLOADS } from '../../../web/testing/payloads.ts'
import { type ApiClient, apiClient } from '../../testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../testing/serviceBodies.ts'
import type { ConsoleServer, TestPerson } from './startConsoleServer.ts'

/** Longest common name of a certificate (characters). */
const COMMON_NAME_CHARS_MAX = 64
const DAY_MS = 24 * 60 * 60 * 1_000

/** All payloads, joined into texts of at most `charsMax` characters. Pure. */
function payloadsIn(charsMax: number): readonly string[] {
  const texts: string[] = []
  for (const payload of PAYLOADS) {
    const longer = texts.length === 0 ? payload : `${texts.at(-1)} ${payload}`
    if (texts.length > 0 && longer.length <= charsMax) texts[texts.length - 1] = longer
    else texts.push(payload)
  }
  return texts
}

/** An organisation with markup in every text. */
export interface HostileEstate {
  readonly owner: TestPerson
  /** Ids by path segment before them; the first delivery belongs to the first channel. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** Id of the service with failing checks, with payloads in each reason. */
  readonly failing: string
  readonly close: () => void
}

/** Targets that respond with payloads in headers and body; the certificate of `https` has one as its name. */
async function startTargets() {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-certificate-'))
  const name = '"><img src=x onerror=alert(1)>'.slice(0, COMMON_NAME_CHARS_MAX)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem']
  const subject = ['-days', '2', '-subj', `/CN=${name}`, '-out', 'cert.pem']
  execFileSync('openssl', ['req', '-x509', ...key, ...subject], { cwd: folder, stdio: 'pipe' })
  const file = (path: string): Buffer => readFileSync(join(folder, path))
  const secure = { key: file('key.pem'), cert: file('cert.pem') }
  rmSync(folder, { recursive: true })
  const servers = [
    createHttp((request, response) => {
      const payload = PAYLOADS[Number(request.url?.slice(1))] ?? ''
      response.writeHead(200, { 'x-payload': payload }).end(payload)
    }),
    createHttps(secure, (_request, response) => response.end('ok')),
  ]
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because they listen on TCP.
  const [http = 0, https = 0] = servers.map((server) => (server.address() as AddressInfo).port)
  const close = (): void => {
    for (const server of servers) {
      server.closeAllConnections()
      server.close()
    }
  }
  return { http: `http://127.0.0.1:${http}`, https: `https://127.0.0.1:${https}/`, close }
}

/** Puts each payload into every text field of a server that checks loopback. */
export async function makeHostileEstate(server: ConsoleServer): Promise<HostileEstate> {
  const targets = await startTargets()
  await server.overrideLimits({
    ...{ serviceEndpointsMax: 100, endpointsMax: 500, servicesMax: 500, intervalSecsMin: 1 },
  })
  const owner = await server.signIn('owner', { name: payloadsIn(100)[0] ?? '' })
  await server.store.renameOrg({
    ...{ orgId: server.orgId, name: PAYLOADS.join(' '), by: { kind: 'cli' }, nowMs: Date.now() },
  })
  const api = apiClient(server.url, server.apiKey)
  const failing = await makeServices(api, targets)
  const named = await Promise.all(
    payloadsIn(255).map((name, index) => makeService(api, { name, url: `https://example.org/${index}` })),
  )
  await makePeople(server, owner)
  const ids = {
    services: [failing, ...named],
    incidents: await makeIncidents(api, owner, named),
    maintenance: await makeWindows(server, owner, failing),
    pages: await makePages(owner, failing),
    ...(await makeChannels(server, owner, targets.http)),
  }
  return { owner, ids, failing, close: targets.close }
}

async function makeService(api: ApiClient, { name, url }: { readonly name: string; readonly url: string }) {
  const body = serviceBody({ name, endpoints: [endpointBody({ url, name })] })
  return idOf((await api.post('/v1/services', body)).json)
}

/**
 * Creates a service whose checks fail with payloads in their reasons, and one service per payload; the id of the first.
 */
async function makeServices(api: ApiClient, targets: { readonly http: string; readonly https: string }) {
  const checked = PAYLOADS.map((payload, index) => {
    const value = { value: payload }
    const Http = { method: 'GET' as const, timeout: null, headers: { 'X-Payload': value }, body: value }
    const matcher = { Equals: `${payload}?` }
    const assertion = index % 2 === 0 ? { Header: { name: 'X-Payload', matcher } } : { Body: { matcher } }
    const [url, name] = [`${targets.http}/${index}`, payload]
    return endpointBody({ url, name, call: { Http }, assertions: [assertion] })
  })
  const endpoints = [...checked, endpointBody({ url: targets.https, name: 'certificate' })]
  const source = new URLSearchParams({
    repository: PAYLOADS[0] ?? '',
    path: PAYLOADS[3] ?? '',
    commit: '"><b>',
  })
  const definition = serviceBody({ name: 'Failing', interval_secs: 3_600, endpoints })
  const headers = { [SOURCE_HEADER]: `${source}`, 'user-agent': "terraform-provider-pharos/'`|~onerror" }
  const failing = idOf((await api.post('/v1/services', definition, { headers })).json)
  for (const name of PAYLOADS) await makeService(api, { name, url: 'https://example.org/' })
  return failing
}

async function makePeople({ store, orgId }: ConsoleServer, { id }: TestPerson): Promise<void> {
  const [nowMs, by] = [Date.now(), { kind: 'cli' } as const]
  for (const [index, payload] of PAYLOADS.entries()) {
    const tokenHash = randomBytes(32)
    const invitation = { tokenHash, orgId, role: 'viewer' as const, expiresAtMs: nowMs + DAY_MS }
    await store.invite({ ...invitation, email: `${payload}@example.org` }, by, nowMs)
    const person = { kind: 'new', personId: `person-${index}`, name: payload, passwordHash: 'none' } as const
    await store.acceptInvitation(tokenHash, person, nowMs)
    const times = { createdAtMs: nowMs, seenAtMs: nowMs, elevatedAtMs: null }
    await store.openSession({ ...times, idHash: randomBytes(32), personId: id, browser: payload }, 'none')
  }
  for (const group of payloadsIn(200)) {
    const invitation = { tokenHash: randomBytes(32), orgId, role: 'viewer' as const }
    const email = `${group}@example.net`
    await store.invite({ ...invitation, email, expiresAtMs: nowMs + DAY_MS }, by, nowMs)
  }
}

async function makeIncidents(api: ApiClient, { client, actions }: TestPerson, services: readonly string[]) {
  const made: string[] = []
  for (const title of payloadsIn(500)) {
    const text = { title, message: PAYLOADS.join('\n'), severity: 'major_outage', service_ids: services }
    const id = idOf((await api.post('/v1/incidents', text)).json)
    const update = { body: PAYLOADS.join(' '), status: 'identified', severity: 'major_outage', seen: '1' }
    await client.post(`${actions}/incidents/${id}/updates`, update)
    made.push(id)
  }
  return made
}

async function makeWindows(
  { store, orgId }: ConsoleServer,
  { client, actions }: TestPerson,
  service: string,
) {
  const times = { from: '2020-01-01T00:00', to: '2090-01-02T00:00' }
  for (const title of payloadsIn(500))
    await client.post(`${actions}/maintenance`, { title, services: service, ...times })
  return (await store.listMaintenance(orgId)).map(({ id }) => id)
}

async function makePages({ client, actions }: TestPerson, service: string): Promise<readonly string[]> {
  const made: string[] = []
  for (const [index, text] of payloadsIn(100).entries()) {
    const component = { 'kind-1': 'component', 'name-1': text, 'text-1': text, 'service-1': service }
    const page = { slug: `page-${index}`, title: text, text, public: 'yes', incidents: 'all', do: 'save' }
    const form = { ...page, 'kind-0': 'section', 'name-0': text, ...component }
    made.push((await client.post(`${actions}/pages`, form)).location.split('/').at(-1) ?? '')
  }
  return made
}

async function makeChannels({ store, orgId }: ConsoleServer, { client, actions }: TestPerson, url: string) {
  for (const name of payloadsIn(200)) {
    const form = { name, kind: 'webhook', url: `${url}/0`, events: 'incident.updated' }
    await client.post(`${actions}/channels`, form)
  }
  const channels = (await store.listChannels(orgId)).map(({ id }) => id)
  const deliveries = await Promise.all(channels.map((id) => store.testChannel({ id }, Date.now())))
  for (const note of PAYLOADS) await client.post(`${actions}/keys`, { note, scope: 'read_only' })
  return { channels, deliveries }
}

function idOf(json: unknown): string {
  // True because every creation returns the id of the new resource.
  return (json as { readonly id: string }).id
}
