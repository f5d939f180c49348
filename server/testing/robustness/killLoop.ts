import { incidentSchema } from '../../../api/contract/incident.ts'
import type { ServiceRequest } from '../../../api/contract/service.ts'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { openDatabase } from '../../store/sqlite/files/openDatabase.ts'
import { openStore } from '../../store/sqlite/openStore.ts'
import { type ApiResponse, apiClient } from '../apiClient.ts'
import { makeKeys, makeOrg } from '../seedFolder.ts'
import { startProcess } from '../serverProcess.ts'
import { serviceBody } from '../serviceBodies.ts'

/** Number of active writers when the process is killed. */
const WRITERS = 8
/** Number of responses before the process is killed: the minimum, and the maximum random addition. */
const RESPONSES_MIN = 40
const RESPONSES_MORE = 120
/** Number of new keys for each writer, enough that none reaches the rate limit. */
const KEYS_PER_WRITER = Math.ceil((RESPONSES_MIN + RESPONSES_MORE) / 15)

/** Number of responses that the writers received, over all rounds. */
interface Acknowledged {
  /** Text of each service's last response; `null` when it was deleted. */
  readonly services: Map<string, string | null>
  /** Services whose last request got no response, so that either outcome is correct. */
  readonly uncertain: Set<string>
  readonly displayIds: string[]
  responses: number
}

/** Settings of a loop. `random` returns numbers from 0 to 1. */
export interface KillRun {
  readonly dataDir: string
  readonly kills: number
  readonly random: () => number
  /** Called after each kill with their number; optional. */
  readonly onKill?: (kills: number) => void
}

/** The result of a loop. */
export interface KillReport {
  readonly kills: number
  readonly acknowledged: number
  readonly services: number
  readonly incidents: number
}

/**
 * Kills a server on `dataDir` `kills` times during writes. Throws when a restart shows a lost acknowledged write, a
 * partial effect, or a missing command.
 */
export async function killLoop({ dataDir, kills, random, onKill }: KillRun): Promise<KillReport> {
  const acknowledged: Acknowledged = {
    services: new Map(),
    uncertain: new Set(),
    displayIds: [],
    responses: 0,
  }
  const orgId = await makeOrg(dataDir)
  // Rate limits start over with each process.
  const keys = await makeKeys(dataDir, orgId, WRITERS * KEYS_PER_WRITER)
  for (let round = 0; round < kills; round += 1) {
    const server = await startProcess(dataDir)
    const killAt = acknowledged.responses + RESPONSES_MIN + Math.floor(random() * RESPONSES_MORE)
    let killed: Promise<void> | undefined
    const onResponse = (): void => {
      acknowledged.responses += 1
      if (acknowledged.responses === killAt) killed = server.kill()
    }
    await Promise.all(
      Array.from({ length: WRITERS }, (_, writer) => {
        const writerKeys = keys.slice(writer * KEYS_PER_WRITER, (writer + 1) * KEYS_PER_WRITER)
        return write({ url: server.url, writerKeys, acknowledged, random, onResponse })
      }),
    )
    await killed
    await assertNothingLost(dataDir, orgId, acknowledged)
    onKill?.(round + 1)
  }
  const kept = [...acknowledged.services.values()].filter((text) => text !== null)
  return {
    kills,
    acknowledged: acknowledged.responses,
    services: kept.length,
    incidents: acknowledged.displayIds.length,
  }
}

interface Writing {
  readonly url: string
  readonly writerKeys: readonly string[]
  readonly acknowledged: Acknowledged
  readonly random: () => number
  readonly onResponse: () => void
}

async function write({ url, writerKeys, acknowledged, random, onResponse }: Writing): Promise<void> {
  const client = apiClient(url, '')
  let sent = 0
  let current: string | null = null
  const call = async (method: string, path: string, json?: unknown): Promise<ApiResponse> => {
    const key = writerKeys[Math.floor(sent / 18) % writerKeys.length] ?? ''
    sent += 1
    const response = await client.call(method, path, { key, ...(json === undefined ? {} : { json }) })
    if (response.status >= 300) throw new Error(`${method} got ${response.status}: ${response.text}`)
    onResponse()
    return response
  }
  for (;;) {
    try {
      current = await writeOnce({ call, acknowledged, random, current })
    } catch (error) {
      if (error instanceof Error && 'code' in error) return
      throw error
    }
  }
}

interface Step {
  readonly call: (method: string, path: string, json?: unknown) => Promise<ApiResponse>
  readonly acknowledged: Acknowledged
  readonly random: () => number
  readonly current: string | null
}

/** Sends one random write. Resolves with the service for the next one. */
async function writeOnce({ call, acknowledged, random, current }: Step): Promise<string | null> {
  if (current === null) {
    const { text, json } = await call('POST', '/v1/services', definition(random))
    const { id } = serviceResponseSchema.parse(json)
    acknowledged.services.set(id, text)
    return id
  }
  const path = `/v1/services/${current}`
  const dice = random()
  if (dice < 0.2) {
    const body = { title: 'x', message: 'x', severity: 'major_outage', service_ids: [current] }
    acknowledged.displayIds.push(
      incidentSchema.parse((await call('POST', '/v1/incidents', body)).json).display_id,
    )
    return current
  }
  acknowledged.uncertain.add(current)
  if (dice < 0.4) {
    await call('DELETE', path)
    acknowledged.services.set(current, null)
  } else if (dice < 0.6)
    acknowledged.services.set(current, (await call('PATCH', path, definition(random))).text)
  else if (dice < 0.8) acknowledged.services.set(current, (await call('POST', `${path}/pause`)).text)
  else acknowledged.services.set(current, (await call('POST', `${path}/resume`)).text)
  acknowledged.uncertain.delete(current)
  return dice < 0.4 || random() < 0.3 ? null : current
}

function definition(random: () => number): ServiceRequest {
  const regions = ['eu-west-1', 'us-east-1', 'sa-east-1'].slice(0, 1 + Math.floor(random() * 3))
  return serviceBody({ name: `service ${Math.floor(random() * 1e9)}`, regions })
}

async function assertNothingLost(dataDir: string, orgId: string, acknowledged: Acknowledged): Promise<void> {
  const { reader, writer } = await openDatabase(dataDir)
  const integrity = writer.pragma('integrity_check', { simple: true })
  reader.close()
  writer.close()
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const services = new Map(
    (await store.listServices(orgId)).map((service) => [
      serviceResponseSchema.parse(JSON.parse(service.text)).id,
      service,
    ]),
  )
  const commands = await store.listCommands()
  const problems = [...acknowledged.services]
    .filter(([id, text]) => !acknowledged.uncertain.has(id) && (services.get(id)?.text ?? null) !== text)
    .map(([id]) => `service ${id} is not what was acknowledged`)
  for (const [id, { text, generation }] of services) {
    const { regions, paused_at } = serviceResponseSchema.parse(JSON.parse(text))
    const last = commands.filter((command) => command.serviceId === id && command.generation === generation)
    const type = paused_at == null ? 'StartServiceMonitoring' : 'EndServiceMonitoring'
    const commanded = last.filter((command) => command.type === type).map(({ region }) => region)
    // A paused service that is replaced publishes nothing.
    const isComplete =
      regions.every((region) => commanded.includes(region)) || (paused_at != null && last.length === 0)
    if (!isComplete) problems.push(`service ${id} lacks commands of generation ${generation}`)
  }
  const page = await store.listIncidents(
    orgId,
    {
      section: 'active',
      q: undefined,
      severity: undefined,
      serviceIds: [],
      page: 1,
      limit: 1,
    },
    async () => {},
  )
  await store.close()
  if (integrity !== 'ok') problems.push('the database is damaged')
  if (new Set(acknowledged.displayIds).size !== acknowledged.displayIds.length)
    problems.push('a display id was used twice')
  if ((page?.total ?? 0) < acknowledged.displayIds.length) problems.push('an incident was lost')
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
