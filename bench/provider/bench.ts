/**
 * Cost of the provider, as ratios: `npx tsx bench/provider/bench.ts [start | one | create | unlimited | services …]`,
 * after `npm run build`. Without arguments everything is measured, which takes about ten minutes.
 *
 * Plans run against the server with the contract's limit. The baseline reads services one at a time through the same
 * limiter, like providers that do not coalesce reads.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../../api/client/client.ts'
import { CLIENT_RATE, Limiter } from '../../api/client/limiter.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { METHODS } from '../../provider/protocol/testing/providerClient.ts'
import { startProvider } from '../../provider/protocol/testing/providerProcess.ts'
import { openTerraformDirectory } from '../../provider/protocol/testing/terraformCli.ts'
import { startRecordingProxy } from '../../provider/testing/recordingProxy.ts'
import { type TerraformWorkspace, terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'
import { compare, computedMs, shown, times } from './timing.ts'

/** Maximum number of services for which the baseline is actually run. Beyond, its time is computed from the limit. */
const BASELINE_SERVICES_MAX = 500
/** Requests per second under the contract, after the burst. */
const REQUESTS_PER_SECOND = 5
/** Time in which a key earns its whole burst (milliseconds). */
const BURST_EARNED_MS = 4_000

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

// With count, because Terraform evaluates for_each again for each instance, in time that grows quadratically.
const fleet = (count: number): string => `resource "pharos_service" "many" {
  count     = ${count}
  name      = "many \${count.index}"
  interval  = "60s"
  regions   = ["eu-west-1"]
  endpoints = [{ url = "https://example.com/", http = { method = "GET" } }]
}
`

interface Bench {
  readonly server: TestServer
  readonly services: readonly ServiceResponse[]
  readonly workspace: TerraformWorkspace
  readonly requests: () => number
}

/** Runs `work` with a separate server that has `count` services, and the contract's limit or none. */
async function withServer(
  count: number,
  rateLimit: 'contract' | 'none',
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const quick = await startServer({ dataDir, rateLimit: 'none' })
  const limiter = new Limiter({ burstRequests: 10_000, refillIntervalMs: 1 })
  const client = new Client({ url: quick.url, apiKey: quick.apiKey, userAgent: 'bench', limiter })
  await quick.overrideLimits({ servicesMax: 5_000, endpointsMax: 5_000 })
  const services: ServiceResponse[] = []
  for (let index = 0; index < count; index += 1) {
    services.push(await client.createService(request(`many ${index}`), `key-${index}`))
  }
  await client.close()
  await quick.close()
  const server = await startServer({ dataDir, rateLimit })
  const proxy = await startRecordingProxy(server.url)
  const apiKey = await server.createKey({ orgId: quick.orgId })
  const workspace = await terraformWorkspace({ url: proxy.url, apiKey, provider: 'installed' })
  workspace.configure('')
  await workspace.succeed(['init'])
  try {
    await work({ server, services, workspace, requests: () => proxy.requests().length })
  } finally {
    workspace.remove()
    await proxy.close()
    await server.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Writes all services into the state: one is imported, and the others are copied from it. */
async function takeOver({ services, workspace }: Bench): Promise<void> {
  workspace.configure(fleet(services.length))
  await workspace.succeed(['import', 'pharos_service.many[0]', services[0]?.id ?? ''])
  const file = join(workspace.folder, 'terraform.tfstate')
  const state = JSON.parse(readFileSync(file, 'utf8'))
  const [instance] = state.resources[0].instances
  state.resources[0].instances = services.map(({ id, name, created_at, endpoints }, index) => ({
    ...instance,
    index_key: index,
    attributes: {
      ...instance.attributes,
      id,
      name,
      created_at,
      endpoint_ids: endpoints.map((endpoint) => endpoint.id),
    },
  }))
  writeFileSync(file, JSON.stringify(state))
}

const EMPTY_PLAN = ['plan', '-detailed-exitcode']

async function benchPlan(count: number): Promise<void> {
  await withServer(count, 'contract', async (bench) => {
    await takeOver(bench)
    bench.requests()
    const before = computedMs()
    const planMs = await timed(() => bench.workspace.succeed(EMPTY_PLAN))
    const cpuMs = computedMs() - before
    const made = bench.requests()
    const isRun = count <= BASELINE_SERVICES_MAX
    const baselineMs = isRun
      ? await baseline(bench)
      : ((count - CLIENT_RATE.burstRequests) / REQUESTS_PER_SECOND) * 1_000
    const how = isRun
      ? 'measured'
      : `computed: (${count} − ${CLIENT_RATE.burstRequests}) ÷ ${REQUESTS_PER_SECOND}`
    write(
      `plan of ${count}: ${seconds(planMs)} (${seconds(cpuMs)} of computing), ${made} request(s); one GET each ${seconds(baselineMs)}, ${count} requests (${how}): ${(baselineMs / planMs).toFixed(1)} ×`,
    )
  })
}

/** Time for reading each service separately through the provider's limiter (milliseconds). */
async function baseline({ server, services }: Bench): Promise<number> {
  const apiKey = await server.createKey()
  const client = new Client({ url: server.url, apiKey, userAgent: 'bench' })
  const ms = await timed(() => Promise.all(services.map(({ id }) => client.getService(id).catch(() => null))))
  await client.close()
  return ms
}

async function benchCreate(count: number): Promise<void> {
  await withServer(0, 'contract', async ({ workspace, requests }) => {
    workspace.configure(fleet(count))
    const applyMs = await timed(() => workspace.succeed(['apply', '-auto-approve']))
    const made = requests()
    // The same command again after the key has regained its burst: everything except the creates.
    await wait(BURST_EARNED_MS)
    const { again } = await compare({
      again: () => timed(() => workspace.succeed(['apply', '-auto-approve'])),
    })
    const emptyMs = again.fastestMs
    const limitMs = ((count - CLIENT_RATE.burstRequests) / REQUESTS_PER_SECOND) * 1_000
    const ratio = (applyMs / (limitMs + emptyMs)).toFixed(3)
    write(
      `create of ${count}: ${seconds(applyMs)}, ${made} requests; limit ${seconds(limitMs)} + empty apply ${seconds(emptyMs)} (${ratio} ×)`,
    )
  })
}

/** Time until an empty Node program prints (milliseconds). */
async function emptyProgramMs(): Promise<number> {
  const startedAtMs = performance.now()
  const child = spawn(process.execPath, ['-e', 'console.log(1)'])
  await once(child.stdout, 'data')
  const ms = performance.now() - startedAtMs
  await once(child, 'close')
  return ms
}

/**
 * Time until the provider's handshake, or until the response to GetProviderSchema as the first call; over TLS
 * (milliseconds).
 */
async function providerMs(until: 'handshake' | 'schema'): Promise<number> {
  const startedAtMs = performance.now()
  const provider = await startProvider({ command: ['dist/terraform-provider-pharos.cjs'] })
  if (until === 'schema') await provider.client.call(METHODS.GetProviderSchema, {})
  const ms = performance.now() - startedAtMs
  await provider.shutDown()
  return ms
}

async function benchStart(): Promise<void> {
  const { empty, handshake, schema } = await compare({
    empty: emptyProgramMs,
    handshake: () => providerMs('handshake'),
    schema: () => providerMs('schema'),
  })
  write(`an empty Node program: ${shown(empty)}`)
  write(`start to handshake: ${shown(handshake)}: ${times(handshake, empty)}`)
  write(`start to schema: ${shown(schema)}: ${times(schema, empty)}`)
  write('computing is of whole processes, with their end')
  if (process.env.NODE_EXTRA_CA_CERTS !== undefined) {
    write('NODE_EXTRA_CA_CERTS is set: each Node reads all authorities at its start, which hides the rest')
  }
}

const BUILT_IN = 'resource "terraform_data" "one" { input = "a" }'

async function benchOne(): Promise<void> {
  await withServer(1, 'none', async (bench) => {
    await takeOver(bench)
    const sideBySide = await terraformWorkspace({ url: bench.server.url, apiKey: '', provider: 'installed' })
    const alone = openTerraformDirectory({})
    sideBySide.configure(BUILT_IN)
    alone.configure(BUILT_IN)
    await sideBySide.succeed(['init'])
    await sideBySide.succeed(['apply', '-auto-approve'])
    await alone.run('init')
    await alone.run('apply', '-auto-approve')
    const { one, besides, none } = await compare({
      one: () => timed(() => bench.workspace.succeed(EMPTY_PLAN)),
      besides: () => timed(() => sideBySide.succeed(EMPTY_PLAN)),
      none: () => timed(() => alone.run(...EMPTY_PLAN)),
    })
    write(`plan of one service, which starts the provider three times: ${shown(one)}`)
    write(
      `plan of one terraform_data where the provider is required, which starts it for its schema: ${shown(besides)}: ${times(one, besides)}`,
    )
    write(`plan of one terraform_data alone, which starts no process: ${shown(none)}: ${times(one, none)}`)
    sideBySide.remove()
    alone.remove()
  })
}

async function benchUnlimited(counts: readonly number[]): Promise<void> {
  const plans: { readonly count: number; readonly ms: number; readonly cpuMs: number }[] = []
  for (const count of counts) {
    await withServer(count, 'none', async (bench) => {
      await takeOver(bench)
      const before = computedMs()
      const ms = await timed(() => bench.workspace.succeed(EMPTY_PLAN))
      plans.push({ count, ms, cpuMs: computedMs() - before })
    })
  }
  const [one, ...others] = plans
  for (const { count, ms, cpuMs } of others) {
    const each = (many: number, single = 0): string => ((many - single) / (count - 1)).toFixed(2)
    write(
      `plan of ${count} without limit: ${seconds(ms)}; each instance beyond the first ${each(ms, one?.ms)} ms, ${each(cpuMs, one?.cpuMs)} ms of computing`,
    )
  }
}

const wanted = process.argv.slice(2)
const isWanted = (what: string): boolean => wanted.length === 0 || wanted.includes(what)
if (isWanted('start')) await benchStart()
if (isWanted('one')) await benchOne()
const counts = wanted.map(Number).filter((count) => count > 0)
for (const count of wanted.length === 0 ? [100, 500, 1_000, 2_000] : counts) await benchPlan(count)
if (isWanted('create')) await benchCreate(100)
if (isWanted('unlimited')) await benchUnlimited([1, 300, 2_000])
