import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Incident, IncidentPage } from '../../api/contract/incident.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import { apiClient } from '../testing/apiClient.ts'
import { runHere } from '../testing/commandHere.ts'
import { startProcess } from '../testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../testing/serviceBodies.ts'

/** How often it is looked at what no event tells of (milliseconds). */
const LOOK_MS = 500
/** Secrets of a request, each of which the target sends back. */
const CANARIES = ['sealed-canary-7f3a9c', 'query-canary-51b2de90', 'body-canary-c3d4e5f6']

/** A target that responds with all that it was sent. */
const target = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  request.on('end', () => {
    const echo = `${request.url} ${JSON.stringify(request.headers)} ${body}`
    const token = String(request.headers['x-token'])
    response.writeHead(status, { 'x-echo': status === 200 ? token : `not ${token}` }).end(echo)
  })
})
let status = 200
target.listen(0, '127.0.0.1')
await once(target, 'listening')
// True because the server listens on TCP.
const { port } = target.address() as AddressInfo

const dataDir = mkdtempSync(join(tmpdir(), 'pharos-incidents-'))
const server = await startProcess(dataDir, [
  ...['--monitor', 'on', '--allow-ranges', '127.0.0.0/8', '--log-level', 'info'],
])
afterAll(async () => {
  await server.stop()
  target.closeAllConnections()
  target.close()
  rmSync(dataDir, { recursive: true })
  rmSync(`${dataDir}.master-key`, { force: true })
})

async function admin(...args: string[]) {
  const { stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** The newest incident, as soon as `isWanted` holds of it. */
async function incidentWhere(
  api: ReturnType<typeof apiClient>,
  isWanted: (incident: Incident) => boolean,
): Promise<Incident> {
  for (;;) {
    // True because the response is a page of incidents.
    const { items } = (await api.get('/v1/incidents?section=active')).json as IncidentPage
    const [newest] = items
    if (newest !== undefined && isWanted(newest)) return newest
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** The lines of the log with the message `msg`, as soon as there is one. */
async function linesLogged(msg: string): Promise<readonly object[]> {
  for (;;) {
    const lines = server.stderr().split('\n').slice(0, -1)
    const found = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === msg)
    if (found.length > 0) return found
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

test('a failing target gets an automatic incident, which reports recovery and contains no secret', async () => {
  const { id: orgId } = await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  await admin('org', 'auto-incidents', '--org', orgId, '--threshold', '2', '--window', '1')
  const api = apiClient(server.url, (await admin('key', 'create', '--org', orgId)).key)
  const [sealed = '', query = '', body = ''] = CANARIES
  const call = {
    Http: {
      method: 'POST' as const,
      timeout: null,
      headers: { 'X-Token': { value: sealed, sensitive: true } },
      body: { value: body },
    },
  }
  const assertions = [
    { Header: { name: 'X-Echo', matcher: { Equals: sealed } } },
    { StatusCode: { expected: { Eq: 200 } } },
  ]
  const url = `http://127.0.0.1:${port}/pay?token=${query}`
  const request = serviceBody({ interval_secs: 1, endpoints: [endpointBody({ url, call, assertions })] })
  const created = await api.post('/v1/services', request)
  // True because the response is a service.
  const service = created.json as ServiceResponse

  status = 503
  const opened = await incidentWhere(api, () => true)
  status = 200
  const passing = await incidentWhere(api, ({ status: now }) => now === 'monitoring')
  const hour = 60 * 60 * 1_000
  await admin(
    ...['maintenance', 'create', '--org', orgId, '--title', 'Move', '--service', service.id],
    ...['--starts-at', new Date(Date.now() - hour).toISOString()],
    ...['--ends-at', new Date(Date.now() + hour).toISOString()],
  )
  const states = await admin('states', '--org', orgId)
  await admin('service', 'auto-incidents', '--org', orgId, '--service', service.id, '--off')
  const resolved = (await api.get(`/v1/incidents/${opened.id}`)).json
  const incidentLines = await linesLogged('an automatic incident was opened')
  const stateLines = await linesLogged('a service changed its state')

  expect(service).toMatchObject({ auto_incident_failure_threshold: 2, auto_incident_enabled: true })
  expect(opened).toMatchObject({
    ...{ auto_managed: true, created_by: null, status: 'investigating', severity: 'major_outage' },
    title: `Checkout: http://127.0.0.1:${port}/pay down from Dublin`,
    updates: [{ body: expect.stringMatching(/header x-echo/i) }],
  })
  expect(passing.id).toBe(opened.id)
  expect(states).toMatchObject([{ service_id: service.id, state: 'maintenance', reasons: [] }])
  expect(resolved).toMatchObject({ status: 'resolved' })
  const named = { service: service.id, serviceName: service.name }
  expect(incidentLines).toMatchObject([{ ...named, incident: opened.display_id }])
  expect(stateLines[0]).toMatchObject(named)
  for (const canary of CANARIES) {
    expect(JSON.stringify([opened, passing, resolved, states])).not.toContain(canary)
    expect(server.stderr()).not.toContain(canary)
  }
})
