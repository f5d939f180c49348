/**
 * What the provider costs, as ratios: `npx tsx bench/provider/bench.ts [services …]`, after `npm run build`.
 *
 * Plans run against the server with the contract's limit; the baseline reads one service after the other through
 * the same limiter, as providers do that do not coalesce.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import type { ServiceRequest } from '../../api/contract/service.ts'
import { MAGIC_COOKIE } from '../../provider/protocol/plugin/environment.ts'
import { startRecordingProxy } from '../../provider/testing/recordingProxy.ts'
import { type TerraformWorkspace, terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'

/** Services for which the baseline is measured: five a second take long enough. */
const BASELINE_SERVICES = 100
/** What the contract lets through: at once, and then a second. */
const BURST_REQUESTS = 20
const REQUESTS_PER_SECOND = 5

const write = (text: string): void => void process.stdout.write(`${text}\n`)
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now()
  await work()
  return performance.now() - startedAtMs
}

function request(name: string): ServiceRequest {
  const call = { Http: { method: 'GET' as const, timeout: null } }
  return {
    name,
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [{ url: 'https://example.com/', call, assertions: [] }],
  }
}

// With count: Terraform evaluates for_each anew for each instance, which takes it time that grows with the square.
const fleet = (count: number): string => `resource "pharos_service" "many" {
  count     = ${count}
  name      = "many \${count.index}"
  interval  = "60s"
  regions   = ["eu-west-1"]
  endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
}
`

const takeOver = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `import {
  to = pharos_service.many[${index}]
  id = "name=many ${index}"
}
`,
  ).join('')

interface Bench {
  readonly server: TestServer
  readonly workspace: TerraformWorkspace
  readonly requests: () => number
}

/** Runs `work` with a server of its own, whose limit is the contract's after `prepare` has run without one. */
async function withServer(
  prepare: (client: Client) => Promise<void>,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const quick = await startServer({ dataDir, rateLimit: 'none' })
  const limiter = new Limiter({ burstRequests: 10_000, refillIntervalMs: 1 })
  const client = new Client({ url: quick.url, apiKey: quick.apiKey, userAgent: 'bench', limiter })
  await quick.overrideLimits({ servicesMax: 5_000, endpointsMax: 5_000 })
  await prepare(client)
  await client.close()
  await quick.close()
  const server = await startServer({ dataDir })
  const proxy = await startRecordingProxy(server.url)
  const apiKey = await server.createKey({ orgId: quick.orgId })
  const workspace = await terraformWorkspace({ url: proxy.url, apiKey, provider: 'installed' })
  try {
    await work({ server, workspace, requests: () => proxy.requests().length })
  } finally {
    workspace.remove()
    await proxy.close()
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function benchPlan(count: number): Promise<void> {
  await withServer(
    async (client) => {
      for (let index = 0; index < count; index += 1) {
        await client.createService(request(`many ${index}`), `key-${index}`)
      }
    },
    async ({ server, workspace, requests }) => {
      workspace.configure(takeOver(count) + fleet(count))
      await workspace.succeed(['init'])
      await workspace.succeed(['apply', '-auto-approve'])
      // Import blocks cost Terraform itself time that grows with their square.
      workspace.configure(fleet(count))
      requests()
      const planMs = await timed(() => workspace.succeed(['plan', '-detailed-exitcode']))
      const idealMs = (Math.max(0, count - BURST_REQUESTS) / REQUESTS_PER_SECOND) * 1_000
      const ratio = (idealMs / planMs).toFixed(1)
      write(
        `plan of ${count}: ${seconds(planMs)}, ${requests()} request(s); one read each cannot take less than ${seconds(idealMs)} (${ratio} ×)`,
      )
      if (count === BASELINE_SERVICES) await benchBaseline(server, planMs)
    },
  )
}

async function benchBaseline(server: TestServer, planMs: number): Promise<void> {
  const apiKey = await server.createKey()
  const client = new Client({ url: server.url, apiKey, userAgent: 'bench' })
  const baselineMs = await timed(() =>
    Promise.all(Array.from({ length: BASELINE_SERVICES }, () => client.getOrg())),
  )
  await client.close()
  write(
    `  baseline, ${BASELINE_SERVICES} single reads through the same limiter: ${seconds(baselineMs)}; the plan is ${(baselineMs / planMs).toFixed(1)} × as fast`,
  )
}

async function benchCreate(count: number): Promise<void> {
  await withServer(
    async () => {},
    async ({ workspace, requests }) => {
      workspace.configure('')
      await workspace.succeed(['init'])
      workspace.configure('output "nothing" { value = provider::pharos::duration_seconds("1s") }')
      const emptyMs = await timed(() => workspace.succeed(['apply', '-auto-approve']))
      workspace.configure(fleet(count))
      requests()
      const applyMs = await timed(() => workspace.succeed(['apply', '-auto-approve']))
      const made = requests()
      const idealMs = (Math.max(0, made - BURST_REQUESTS) / REQUESTS_PER_SECOND) * 1_000
      const ratio = (applyMs / (idealMs + emptyMs)).toFixed(2)
      write(
        `create of ${count}: ${seconds(applyMs)}, ${made} requests; limit ${seconds(idealMs)} + empty apply ${seconds(emptyMs)} (${ratio} ×)`,
      )
    },
  )
}

/** Milliseconds until `args` of Node print their first line, the best of five. */
async function firstLineMs(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const runs: number[] = []
  for (let run = 0; run < 5; run += 1) {
    const startedAtMs = performance.now()
    const child = spawn(process.execPath, [...args], { env: { ...process.env, ...environment } })
    await once(child.stdout, 'data')
    runs.push(performance.now() - startedAtMs)
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return Math.min(...runs)
}

async function benchStart(): Promise<void> {
  const plugin = { [MAGIC_COOKIE.name]: MAGIC_COOKIE.value, PLUGIN_PROTOCOL_VERSIONS: '6' }
  const emptyMs = await firstLineMs(['-e', 'console.log(1)'], {})
  const startMs = await firstLineMs(['dist/terraform-provider-pharos.cjs'], plugin)
  write(
    `start to handshake: ${startMs.toFixed(0)} ms, an empty Node program ${emptyMs.toFixed(0)} ms (${(startMs / emptyMs).toFixed(2)} ×)`,
  )
}

const counts = process.argv.slice(2).map(Number)
await benchStart()
for (const count of counts.length === 0 ? [100, 500, 1_000] : counts) await benchPlan(count)
if (counts.length === 0) await benchCreate(100)
