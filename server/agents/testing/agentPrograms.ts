/** A server and agents as programs, for tests. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { type AgentProcess, startAgentProcess } from '../../testing/agentProcess.ts'
import { type ApiClient, apiClient } from '../../testing/apiClient.ts'
import { runHere } from '../../testing/commandHere.ts'
import { filesBelow } from '../../testing/filesBelow.ts'
import { type ProcessOptions, type ServerProcess, startProcess } from '../../testing/serverProcess.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'

/** Region of the agents. */
export const REGION = 'eu-west-1'
/** How often something is looked at that no event announces (milliseconds). */
const LOOK_MS = 500

/** A result as `pharos-server results` prints it. */
export interface ShownResult {
  readonly at: string
  readonly region: string
  readonly endpoint_id: string
  readonly outcome: string
  readonly reason: string
}

/** The programs, and what belongs to them. */
export interface AgentPrograms {
  /** Holds the data folder, and the file `token`. */
  readonly folder: string
  readonly orgId: string
  /** An agent token of REGION. */
  readonly token: string
  readonly api: () => ApiClient
  readonly server: () => ServerProcess
  /** Starts the server, which listens for agents. */
  readonly startServer: (...args: string[]) => Promise<ServerProcess>
  readonly startAgent: (args: readonly string[], options?: Pick<ProcessOptions, 'under'>) => AgentProcess
  /** What a subcommand of the server prints with --json. */
  readonly admin: (...args: string[]) => Promise<ReturnType<typeof JSON.parse>>
  /** Creates a service of REGION that is checked each second. */
  readonly create: (changes: Partial<ServiceRequest>) => Promise<ServiceResponse>
  readonly resultsOf: (serviceId: string) => Promise<readonly ShownResult[]>
  /** All that is written below the folder but the token, and what the programs wrote. */
  readonly everythingWritten: () => string
  /** Ends everything. */
  readonly close: () => Promise<void>
}

/**
 * Makes an organisation, a key and an agent token; `rangesAllowed` are allowed to the server and to the agents. The
 * server is started by the command `under`, if there is one.
 */
export async function agentPrograms(
  rangesAllowed: string,
  { under = [] }: Pick<ProcessOptions, 'under'> = {},
): Promise<AgentPrograms> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-agents-'))
  const dataDir = join(folder, 'data')
  const agentPort = await freePort()
  const agents: AgentProcess[] = []
  let running: ServerProcess | undefined
  const server = (): ServerProcess => {
    if (running === undefined) throw new Error('the server was not started')
    return running
  }
  const admin: AgentPrograms['admin'] = async (...args) => {
    const { stdout, stderr } = await runHere([...args, '--data-dir', dataDir, '--json'])
    if (stderr !== '') throw new Error(stderr)
    return JSON.parse(stdout)
  }
  const { id: orgId } = await admin('org', 'create', '--name', 'Acme', '--plan', 'enterprise')
  await admin('plan', 'limits', '--org', orgId, '--interval-secs-min', '1')
  const { key } = await admin('key', 'create', '--org', orgId)
  const { token } = await admin('agent', 'create', '--region', REGION, '--name', 'dublin-1')
  writeFileSync(join(folder, 'token'), token)
  const api = () => apiClient(server().url, key)
  return {
    ...{ folder, orgId, token, api, server, admin },
    startServer: async (...args) => {
      const settings = [
        ...['--monitor', 'on', '--allow-ranges', rangesAllowed, '--agent-port', String(agentPort)],
        ...['--log-level', 'info', '--admin-port', '0', ...args],
      ]
      running = await startProcess(dataDir, settings, { under })
      return running
    },
    startAgent: (args, options = {}) => {
      const agent = startAgentProcess(
        [
          ...['--server', `http://127.0.0.1:${agentPort}`, '--token-file', join(folder, 'token')],
          ...['--allow-ranges', rangesAllowed, ...args],
        ],
        options,
      )
      agents.push(agent)
      return agent
    },
    create: async (changes) => {
      const body = serviceBody({ interval_secs: 1, regions: [REGION], ...changes })
      const { json, status, text } = await api().post('/v1/services', body)
      if (status !== 201) throw new Error(text)
      // True because the response is a service.
      return json as ServiceResponse
    },
    resultsOf: async (serviceId) => (await admin('results', '--service', serviceId)).results,
    everythingWritten: () => {
      const files = filesBelow(folder, (name) => name !== 'token').map((file) => file.toString('latin1'))
      return [...files, server().stderr(), ...agents.map((agent) => agent.output())].join('\n')
    },
    close: async () => {
      await Promise.all(agents.map((agent) => agent.kill()))
      if (running !== undefined && running.child.exitCode === null && running.child.signalCode === null) {
        await running.stop()
      }
      rmSync(folder, { recursive: true })
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Resolves once `isDone`. */
export async function until(isDone: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
