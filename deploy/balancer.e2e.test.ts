import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runHere } from '../server/testing/commandHere.ts'
import { type Cluster, startCluster } from '../server/testing/postgres/cluster.ts'
import { hasPostgres } from '../server/testing/postgres/programs.ts'
import { type ServerProcess, startProcess } from '../server/testing/serverProcess.ts'
import { endpointBody, serviceBody } from '../server/testing/serviceBodies.ts'
import { readDeployFile, workloads } from './testing/deployFiles.ts'

/** Debian's path of HAProxy, which `.ci/run` installs. */
const HAPROXY = '/usr/sbin/haproxy'

function missingPart(): string | null {
  if (!hasPostgres()) return 'no PostgreSQL for this platform'
  return existsSync(HAPROXY) || process.env.CI === 'true' ? null : `no haproxy at ${HAPROXY}`
}
const skipReason = missingPart()

/** Maximum wait for a process or a health check (milliseconds). */
const WAIT = { timeout: 60_000, interval: 50 }

describe.skipIf(skipReason !== null)(
  `servers behind a balancer${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    let folder = ''
    let cluster: Cluster
    let url = ''
    let environment: Readonly<Record<string, string>>

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'pharos-balancer-'))
      cluster = await startCluster('full')
      url = await cluster.createEmpty()
      environment = settingsOfManifests(folder, url)
    })
    afterAll(async () => {
      await cluster.stop()
      rmSync(folder, { recursive: true })
    })

    async function run(...args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await runHere([...args, '--database', url])
      if (code !== 0) throw new Error(stderr)
      return stdout.trim()
    }

    test('a server with the settings of the manifests responds to their probes', async () => {
      const server = await startProcess([], ['--admin-port', '0'], { environment })
      const [workload] = workloads().filter(({ metadata }) => metadata.name === 'pharos-server')
      const [container] = workload?.spec.template.spec.containers ?? []
      const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]
      await vi.waitFor(() => expect(server.adminUrl()).toBeDefined(), WAIT)

      const statuses = await Promise.all(
        probes.map(async (probe) => {
          const { statusCode, body } = await request(`${server.adminUrl()}${probe?.httpGet?.path}`)
          await body.dump()
          return statusCode
        }),
      )

      expect(statuses).toEqual([200, 200, 200])
      expect(await server.stop()).toBe(0)
    })

    test('while three servers are replaced one by one, no request fails', { timeout: 240_000 }, async () => {
      const ports = await Promise.all(Array.from({ length: 7 }, freePort))
      const [outside = 0, ...inside] = ports
      const start = (index: number): Promise<ServerProcess> =>
        startProcess([], ['--port', String(inside[index]), '--admin-port', String(inside[index + 3])], {
          environment,
        })
      const servers = await Promise.all([0, 1, 2].map(start))
      const keys = await Promise.all(
        Array.from({ length: 4 }, async (_, index) => {
          const org = await run('org', 'create', '--name', `Org ${index}`, '--plan', 'enterprise')
          return run('key', 'create', '--org', org)
        }),
      )
      const balancer = startBalancer(folder, outside, inside)
      await vi.waitFor(() => expect(canConnect(outside)).resolves.toBe(true), WAIT)
      const load = startLoad(`https://127.0.0.1:${outside}`, keys)

      for (const index of [0, 1, 2]) {
        const before = load.outcomes.length
        await servers[index]?.stop()
        await vi.waitFor(() => expect(load.outcomes.length).toBeGreaterThan(before + 2 * keys.length), WAIT)
        servers[index] = await start(index)
        await untilUp(balancer)
      }
      await load.stop()
      await Promise.all(servers.map((server) => server.stop()))
      const nowhere = await load.ask()
      await balancer.stop()

      expect(load.outcomes.filter((outcome) => outcome !== 200 && outcome !== 201)).toEqual([])
      expect(nowhere).toEqual([503, '1', { error: 'no server is ready: try again' }])
    })
  },
)

/** The environment of the Deployment's servers, with the files of its secrets in `folder`. */
function settingsOfManifests(folder: string, url: string): Readonly<Record<string, string>> {
  const [server] = workloads().filter(({ metadata }) => metadata.name === 'pharos-server')
  const files: Readonly<Record<string, string>> = {
    PHAROS_DATABASE_URL_FILE: url,
    PHAROS_MASTER_KEY_FILE: randomBytes(32).toString('hex'),
  }
  const settings = (server?.spec.template.spec.containers[0].env ?? []).flatMap(({ name, value }) => {
    const text = files[name]
    if (text === undefined)
      return value === undefined ? [] : [[name, value.replace('$(POD_IP)', '127.0.0.1')]]
    writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 })
    return [[name, join(folder, name)]]
  })
  // Servers on one machine cannot have one port, and tests monitor only when they say so.
  return { ...Object.fromEntries(settings), PHAROS_AGENT_PORT: '0', PHAROS_MONITOR: 'on' }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Whether a program listens on `port` of this machine. */
function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

interface Balancer {
  /** The log so far. */
  readonly log: () => string
  readonly stop: () => Promise<void>
}

/**
 * Starts HAProxy with deploy/haproxy.cfg in front of servers on the first three of `ports`, their admin ports the
 * others.
 */
function startBalancer(folder: string, outside: number, ports: readonly number[]): Balancer {
  const pem = join(folder, 'tls.pem')
  const parts = ['key.pem', 'cert.pem'].map((name) => join(folder, name))
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'].concat([
      '-subj',
      '/CN=localhost',
      '-keyout',
      parts[0] ?? '',
      '-out',
      parts[1] ?? '',
    ]),
    { stdio: 'pipe' },
  )
  writeFileSync(pem, parts.map((part) => readFileSync(part, 'utf8')).join(''))
  const config = join(folder, 'haproxy.cfg')
  let used = -1
  const text = readDeployFile('haproxy.cfg')
    .replace('bind :7443', `bind 127.0.0.1:${outside}`)
    .replace('/run/secrets/tls.pem', pem)
    .replaceAll(/server-\d:7171/g, () => {
      used += 1
      return `127.0.0.1:${ports[used]} port ${ports[used + 3]}`
    })
  writeFileSync(config, text)
  const child: ChildProcess = spawn(HAPROXY, ['-db', '-f', config], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      log += chunk
    })
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    log: () => log,
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Resolves when the balancer has found each server up again that it had found down. */
async function untilUp(balancer: Balancer): Promise<void> {
  await vi.waitFor(() => {
    const count = (state: string): number => balancer.log().split(` is ${state}`).length - 1
    expect(count('UP')).toBe(count('DOWN'))
  }, WAIT)
}

/** Pause between two requests of a key, of which it may make five a second (milliseconds). */
const PAUSE_MS = 300

interface Load {
  /** Statuses of the responses so far, and codes of the errors in place of one. */
  readonly outcomes: readonly (number | string)[]
  /** Status, `retry-after` and body of one more response. */
  readonly ask: () => Promise<readonly unknown[]>
  /** Resolves after the last response. */
  readonly stop: () => Promise<void>
}

/** Lists and creates services in turn at `url`, with each of `keys`, until it is stopped. */
function startLoad(url: string, keys: readonly string[]): Load {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  const outcomes: (number | string)[] = []
  let isStopped = false
  const loops = keys.map(async (key, client) => {
    for (let round = 0; !isStopped; round += 1) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const service = serviceBody({ name: `service ${client} ${round}`, endpoints: [endpointBody()] })
      const body = round % 2 === 0 ? {} : { method: 'POST' as const, body: JSON.stringify(service) }
      outcomes.push(
        await request(`${url}/v1/services`, { dispatcher, headers, ...body }).then(
          async (response) => {
            await response.body.dump()
            return response.statusCode
          },
          (error: unknown) => String(error),
        ),
      )
      await sleep(PAUSE_MS)
    }
  })
  return {
    outcomes,
    ask: async () => {
      const { statusCode, headers, body } = await request(`${url}/v1/services`, { dispatcher })
      return [statusCode, headers['retry-after'], await body.json()]
    },
    stop: async () => {
      isStopped = true
      await Promise.all(loops)
    },
  }
}
