import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceResponse } from '../../../api/contract/service.ts'
import { suiteFolder } from '../../../api/testing/temporaryFolder.ts'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { type AgentProcess, startAgentProcess } from '../agentProcess.ts'
import { apiClient } from '../apiClient.ts'
import { runHere } from '../commandHere.ts'
import { durableDatabases } from '../postgres/durableDatabases.ts'
import { type ServerProcess, startProcess } from '../serverProcess.ts'
import { endpointBody, serviceBody } from '../serviceBodies.ts'
import { startTarget, type Target } from '../target.ts'

/** Interval of polling for conditions without an event (milliseconds). */
const LOOK_MS = 500
const INTERVAL_S = 2

const folder = suiteFolder()
let url = ''
let flags: readonly string[]
let target: Target
let orgId = ''
let key = ''
const running: (ServerProcess | AgentProcess)[] = []

beforeAll(async () => {
  url = await durableDatabases().createEmpty()
  const keyFile = join(folder, 'master.key')
  writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 })
  flags = ['--database', url, '--master-key-file', keyFile, '--monitor', 'on']
  target = await startTarget()
})
afterAll(async () => {
  await Promise.all(running.map((one) => one.kill()))
  target.close()
})

async function run(...args: readonly string[]) {
  const { code, stdout, stderr } = await runHere([...args, '--database', url, '--json'])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

async function startServer(): Promise<ServerProcess> {
  const more = ['--allow-ranges', '127.0.0.0/8', '--agent-port', '0', '--admin-port', '0']
  const server = await startProcess(flags, more)
  running.push(server)
  return server
}

interface StateRow {
  readonly service_id: string
  readonly state: string
}

async function stateIs(id: string, state: string): Promise<void> {
  for (;;) {
    const rows: StateRow[] = await run('states', '--org', orgId)
    if (rows.some((row) => row.service_id === id && row.state === state)) return
    await sleep(LOOK_MS)
  }
}

const resultsOf = async (id: string): Promise<readonly { at: string; region: string }[]> =>
  (await run('results', '--service', id)).results

async function create(server: ServerProcess, path: string, region: string): Promise<ServiceResponse> {
  const body = serviceBody({
    interval_secs: INTERVAL_S,
    regions: [region],
    endpoints: [endpointBody({ url: target.url(path) })],
  })
  const { status, json } = await apiClient(server.url, key).post('/v1/services', body)
  expect(status).toBe(201)
  // True because the response is a service.
  return json as ServiceResponse
}

/** Resolves when there is one incident, which is automatic and has this status. */
async function untilStatus(server: ServerProcess, status: string): Promise<void> {
  for (;;) {
    const { json } = await apiClient(server.url, key).get('/v1/incidents?section=active')
    const { items } = json as { items: readonly { status: string; auto_managed: boolean }[] } // True by the contract.
    expect(items.length).toBeLessThan(2)
    if (items[0]?.auto_managed === true && items[0].status === status) return
    await sleep(LOOK_MS)
  }
}

async function metricOf(server: ServerProcess, name: string): Promise<string | undefined> {
  const text = await (await fetch(`${server.adminUrl()}/metrics`)).text()
  return new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]
}

async function untilMonitoring(server: ServerProcess, value: '0' | '1'): Promise<void> {
  while ((await metricOf(server, 'pharos_monitoring')) !== value) await sleep(LOOK_MS)
}

const agentsOf = (server: ServerProcess): string => /^agents on (\S+)$/m.exec(server.stdout())?.[1] ?? ''

test('one of the servers on a database runs checks, all serve agents, and another takes over when it hangs or stops', async () => {
  const first = await startServer()
  orgId = (await run('org', 'create', '--name', 'Acme', '--plan', 'enterprise')).id
  await run('plan', 'limits', '--org', orgId, '--interval-secs-min', String(INTERVAL_S))
  key = (await run('key', 'create', '--org', orgId)).key
  await untilMonitoring(first, '1')
  const second = await startServer()
  const monitoring = [await metricOf(first, 'pharos_monitoring'), await metricOf(second, 'pharos_monitoring')]

  // Made by the one that does not monitor, checked by the other one.
  const own = await create(second, '/own', 'eu-west-1')
  await target.visited('/own', 2)
  await stateIs(own.id, 'up')
  await run(
    ...['service', 'auto-incidents', '--org', orgId, '--service', own.id],
    ...['--threshold', '2', '--window', '10'],
  )

  const { token } = await run('agent', 'create', '--region', 'us-east-1', '--name', 'ashburn')
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const agent = startAgentProcess([
    ...['--server', agentsOf(second), '--token-file', tokenFile, '--allow-ranges', '127.0.0.0/8'],
  ])
  running.push(agent)
  const remote = await create(first, '/remote', 'us-east-1')
  await target.visited('/remote', 2)
  await stateIs(remote.id, 'up')

  // One that hangs for longer than its turn: it finds out when it goes on, and has written nothing meanwhile.
  first.child.kill('SIGSTOP')
  target.status = 503
  await untilStatus(second, 'investigating')
  await stateIs(own.id, 'down')
  const before = (await resultsOf(remote.id)).length
  first.child.kill('SIGCONT')
  await untilMonitoring(first, '0')
  // Its connection is lost: it connects again, and goes on.
  await withConnection(url, (client) =>
    client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%results'",
    ),
  )
  await target.visited('/remote', target.visits('/remote').length + 2)
  while ((await resultsOf(remote.id)).length < before + 2) await sleep(LOOK_MS)

  expect(await second.stop()).toBe(0)
  await untilMonitoring(first, '1')
  const stopped = target.visits('/own').length
  target.status = 200
  await target.visited('/own', stopped + 2)
  await untilStatus(first, 'monitoring')
  await stateIs(own.id, 'up')
  const dueTimes = (await resultsOf(own.id)).map(({ at }) => at)
  expect(monitoring).toEqual(['1', '0'])
  expect(new Set(dueTimes).size).toBe(dueTimes.length)
  expect(first.stderr()).not.toContain('could not be applied')
  expect(await agent.stop()).toBe(0)
  expect(await first.stop()).toBe(0)
})
