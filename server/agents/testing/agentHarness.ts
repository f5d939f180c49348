/**
 * A server whose hub is in this process, for tests of agents. Its results are written by dist/pharos-server-results.js.
 */
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { Agent, type AgentParts } from '../../../monitoring/agent/agent.ts'
import { checkLibrary } from '../../../monitoring/agent/checkLibrary.ts'
import { httpsLink } from '../../../monitoring/agent/httpsLink.ts'
import type { Link } from '../../../monitoring/agent/link.ts'
import { type PortRequest, portLink } from '../../../monitoring/agent/portLink.ts'
import { AGENT_TOKEN_PREFIX } from '../../../monitoring/protocol/agentToken.ts'
import type { ResultsResponse, ResultsRequest } from '../../../monitoring/protocol/messages.ts'
import type { Bus } from '../../bus/bus.ts'
import { hashKey } from '../../domain/apiKeys.ts'
import { createLog } from '../../process/requestLog.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { Results } from '../../results/threads/results.ts'
import { defaultKeyFile } from '../../secrets/keyring.ts'
import { openMasterKeys } from '../../secrets/masterKeys.ts'
import { apiClient } from '../../testing/apiClient.ts'
import { startServer, type TestServer } from '../../testing/startServer.ts'
import { agentListener } from '../agentListener.ts'
import { applyTransitions } from '../applyTransitions.ts'
import { Hub } from '../hub.ts'
import { MonitoredServices } from '../monitoredServices.ts'
import { PortResponder } from '../portResponder.ts'

export const REGION = 'eu-west-1'
const ALLOWED_RANGES = ['127.0.0.0/8']
/** What the hub says of the machine of its server. */
export const SERVER_ADDRESS = '203.0.114.9'

/** A batch that an agent handed over, and the response to it. */
export interface HandedOver {
  readonly request: ResultsRequest
  readonly response: ResultsResponse
}

export interface AgentHarness {
  readonly server: TestServer
  readonly api: ReturnType<typeof apiClient>
  readonly hub: Hub
  /** What is stored of the results. */
  readonly measurements: Results['measurements']
  /** Where agents connect. */
  readonly url: string
  readonly handedOver: readonly HandedOver[]
  readonly logged: () => string
  /** Private ranges that the hub allows its agents. */
  readonly hubRanges: string[]
  /** A token of `region`, which becomes remote. */
  readonly createToken: (region?: string) => Promise<{ readonly id: string; readonly token: string }>
  /** A link as the agent within a server has it, but for the thread. */
  readonly portLink: () => Link
  /** A link over the network, to the server unless another address is given. */
  readonly networkLink: (token: string, address?: string) => ReturnType<typeof httpsLink>
  /** An agent that names itself `name` to its targets, and is stopped with the harness. */
  readonly startAgent: (name: string, link: Link, parts?: Partial<AgentParts>) => Agent
  /** Has the hub read the modes of the regions anew. */
  readonly readModes: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Starts a server and a hub on its store. `monotonicMs` is the clock by which agents are lost. */
export async function startHarness(monotonicMs = () => performance.now()): Promise<AgentHarness> {
  let lines = ''
  const log = createLog(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines += chunk.toString()
        done()
      },
    }),
    'info',
  )
  let deliver: Bus['publish'] = async () => {}
  const server = await startServer({
    plan: 'enterprise',
    rateLimit: 'none',
    allowedRanges: ALLOWED_RANGES,
    bus: { publish: (command) => deliver(command) },
  })
  const { store, dataDir } = server
  await server.overrideLimits({ intervalSecsMin: 1 })
  const services = new MonitoredServices(store)
  await services.readModes()
  const applying = applyTransitions({ store, log, read: (file, after) => results.transitions(file, after) })
  const results = new Results({
    ...{ place: { dataDir }, lease: null, log, storeId: store.storeId },
    readAll: (signal) => services.readAll(signal),
    readPolicy: () => store.historyPolicy(0),
    trustedMs: Date.now,
    onTransitions: (file) => applying.apply(file),
  })
  while (!results.isUp) await new Promise((resolve) => setTimeout(resolve, 10))
  const handedOver: HandedOver[] = []
  const hubRanges = [...ALLOWED_RANGES]
  const source = { kind: 'file', file: defaultKeyFile(dataDir) } as const
  const findMasterKey = await openMasterKeys({
    ...{ store, source, dataDir, makesMasterKeys: true },
    environment: systemEnvironment,
  })
  const hub = new Hub({
    ...{ store, storeId: store.storeId, services, findMasterKey, nowMs: Date.now, monotonicMs, log },
    ...{ allowedRanges: hubRanges, ownAddresses: () => [SERVER_ADDRESS] },
    results: {
      update: (read) => results.update(read),
      reportAgents: (regions) => results.reportAgents(regions),
      ingest: async (batch) => {
        const response = await results.ingest(batch)
        handedOver.push({ request: batch.request, response })
        return response
      },
    },
  })
  await hub.open()
  deliver = () => hub.publish()
  const listener = agentListener({
    ...{ hub, elsewhere: () => undefined, tokens: store, log },
    monotonicMs: () => performance.now(),
  })
  await new Promise<void>((resolve) => listener.server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = listener.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const agents: Agent[] = []
  const links: { close: () => void }[] = []
  const readModes = async () => {
    if (!(await services.readModes())) return
    hub.renewMembers()
    await hub.reloadServices()
  }
  return {
    ...{ server, hub, url, handedOver, hubRanges, readModes },
    api: apiClient(server.url, server.apiKey),
    measurements: results.measurements,
    logged: () => lines,
    createToken: async (region = REGION) => {
      const token = `${AGENT_TOKEN_PREFIX}${systemEnvironment.randomBytes(32).toString('hex')}`
      const id = randomUUID()
      const stored = { hash: hashKey(token), last4: token.slice(-4), nowMs: 0 }
      await store.createAgentToken({ id, region, name: 'dublin-1', ...stored })
      await readModes()
      return { id, token }
    },
    portLink: () => {
      const link = portLink({ postMessage: (request: PortRequest) => void responder.take(request) })
      const responder = new PortResponder(hub, link.take)
      return link
    },
    networkLink: (token, address = url) => {
      const link = httpsLink({ server: new URL(address), token })
      links.push(link)
      return link
    },
    startAgent: (name, link, parts = {}) => {
      const agent = new Agent({
        ...{ link, instance: randomUUID(), version: '0.0.0' },
        library: checkLibrary({ allowedRanges: ALLOWED_RANGES, userAgent: name }),
        monotonicMs: () => performance.now(),
        wallMs: Date.now,
        onError: () => {},
        ...parts,
      })
      agents.push(agent)
      void agent.setRegions([REGION])
      return agent
    },
    close: async () => {
      await Promise.all(agents.map((agent) => agent.stop()))
      for (const link of links) link.close()
      await listener.stop()
      await hub.close()
      await results.stop()
      await applying.stop()
      await server.close()
    },
  }
}
