/** The server of agents.ts, in a separate process. It reports its CPU time, and replaces services on request. */
import { randomUUID } from 'node:crypto'
import { AGENT_TOKEN_PREFIX } from '../../monitoring/protocol/agentToken.ts'
import { hashKey } from '../../server/domain/apiKeys.ts'
import { systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { apiClient } from '../../server/testing/apiClient.ts'
import { endpointBody, serviceBody } from '../../server/testing/serviceBodies.ts'
import { startServer } from '../../server/testing/startServer.ts'
import type { HostileOrder, ServerReply, ServerOrder } from './agentServerOrder.ts'

/** Longer than any benchmark, so that only new endpoints are due. */
const RARELY_S = 86_400

const server = await startServer({
  ...{ isMonitoring: true, plan: 'enterprise', rateLimit: 'none', logLevel: 'error' },
  allowedRanges: ['127.0.0.0/8'],
})
await server.overrideLimits({ intervalSecsMin: 1, servicesMax: 10_000, endpointsMax: 1_000_000 })
const api = apiClient(server.url, server.apiKey)

async function replyTo(order: ServerOrder): Promise<ServerReply> {
  switch (order.kind) {
    case 'start':
      return { agentUrl: server.agentUrl }
    case 'token': {
      const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(32).toString('hex')}`
      const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: 0 }
      await server.store.createAgentToken({
        id: randomUUID(),
        region: order.region,
        name: 'bench',
        ...stored,
      })
      return { token }
    }
    case 'cpu': {
      const { user, system } = process.cpuUsage()
      return { cpuUs: user + system }
    }
    case 'create': {
      const { regions, endpoints, url, intervalS = RARELY_S } = order
      const startedMs = Date.now()
      const { json, status, text } = await api.post(
        '/v1/services',
        definition(url, endpoints, regions, intervalS),
      )
      if (status !== 201) throw new Error(text)
      // True because the response is a service.
      return { id: (json as { id: string }).id, startedMs, endedMs: Date.now() }
    }
    case 'replace': {
      const { id, regions, endpoints, url } = order
      const startedMs = Date.now()
      const { status, text } = await api.patch(
        `/v1/services/${id}`,
        definition(url, endpoints, regions, RARELY_S),
      )
      if (status !== 200) throw new Error(text)
      return { id, startedMs, endedMs: Date.now() }
    }
    case 'create hostile':
      return createHostile(order)
    case 'stop':
      await server.close()
      return {}
  }
}

async function createHostile({ urls, region }: HostileOrder): Promise<ServerReply> {
  const orgId = await server.createOrg({ plan: 'enterprise' })
  const key = await server.createKey({ orgId })
  const call = { Http: { method: 'GET' as const, timeout: { secs: 60, nanos: 0 } } }
  const assertions = [{ Body: { matcher: { Contains: 'ready' } } }]
  const endpoints = urls.map((url) => endpointBody({ url, call, assertions }))
  const body = serviceBody({ interval_secs: 10, regions: [region], endpoints })
  const { status, text } = await apiClient(server.url, key).post('/v1/services', body)
  if (status !== 201) throw new Error(text)
  return {}
}

function definition(url: string, endpoints: number, regions: readonly string[], intervalS: number) {
  const headers = { 'X-Token': { value: 'a secret of the bench', sensitive: true } }
  const call = { Http: { method: 'GET' as const, timeout: null } }
  const assertions = [
    { StatusCode: { expected: { Eq: 200 } } },
    { Latency: { l_type: 'TotalLatency' as const, expected: { LessThan: { secs: 2, nanos: 0 } } } },
  ]
  return serviceBody({
    interval_secs: intervalS,
    regions: [...regions],
    endpoints: Array.from({ length: endpoints }, (_, index) =>
      endpointBody({
        url: `${url}/${index}`,
        assertions,
        call: index === 0 ? { Http: { ...call.Http, headers } } : call,
      }),
    ),
  })
}

process.on('message', (order: ServerOrder) => {
  replyTo(order).then(
    (reply) => {
      process.send?.(reply)
      if (order.kind === 'stop') process.disconnect()
    },
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
// The benchmark has failed, so nothing else would stop this process.
process.on('disconnect', () => process.exit())
