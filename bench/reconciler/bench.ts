/**
 * Measures `pharos validate` and `pharos plan` on 10,000 manifests, compared with only parsing the same files. The
 * ratios apply to any machine, the seconds only to this one.
 *
 * Run with `node --import tsx bench/reconciler/bench.ts [read] [idle] [apply] [shared]` after `npm run build`.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import type { ServiceRequest } from '../../api/contract/service.ts'
import { BURST_REQUESTS, REFILL_INTERVAL_MS } from '../../api/contract/tokenBucket.ts'
import { terraformWorkspace } from '../../provider/testing/terraformWorkspace.ts'
import { startServer, type TestServer } from '../../server/testing/startServer.ts'

const MANIFESTS = 10_000
/** Number of runs of each; the fastest counts, because other work only adds. */
const RUNS = 3
const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')
const YAML = import.meta.resolve('js-yaml')

/** Prints the peak memory of a process (KiB) when it ends. */
const TELL_MEMORY = `data:text/javascript,process.on('exit',()=>process.stderr.write('\\nKiB '+process.resourceUsage().maxRSS))`
const PARSE_ALONE = `
import { readdirSync, readFileSync } from 'node:fs'
import { loadAll } from '${YAML}'
const folder = process.argv.at(-1)
for (const name of readdirSync(folder)) loadAll(readFileSync(folder + '/' + name, 'utf8'))`

interface Measure {
  readonly secs: number
  readonly mib: number
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-bench-'))
  const server = await startServer({ rateLimit: 'none' })
  try {
    const wanted = (part: string): boolean => process.argv.length === 2 || process.argv.includes(part)
    const env = { PATH: process.env.PATH ?? '', PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
    if (wanted('read')) await reportReading(folder, env)
    if (wanted('idle'))
      for (const services of [1_000, MANIFESTS]) await reportNoOp(services, folder, server, env)
    if (wanted('apply')) await reportApply(folder)
    if (wanted('shared')) await reportShared(folder)
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

type Environment = Readonly<Record<string, string>>

/** Measures validate and plan with many manifests, compared with parsing alone. */
async function reportReading(folder: string, env: Environment): Promise<void> {
  const manifests = join(folder, 'manifests')
  writeManifests(manifests, MANIFESTS)
  const state = join(folder, 'pharos.db')
  const parse = await fastest(['--input-type=module', '-e', PARSE_ALONE, manifests], env)
  report('parse alone', parse, parse)
  report('validate', await fastest([PROGRAM, 'validate', manifests], env), parse)
  const broken = join(folder, 'broken')
  writeManifests(broken, MANIFESTS, 100)
  report('validate, 1 % broken', await fastest([PROGRAM, 'validate', broken], env), parse)
  report('plan, all new', await fastest([PROGRAM, 'plan', manifests, '--state', state], env), parse)
}

/** Measures a run without changes: time, memory and requests. */
async function reportNoOp(
  services: number,
  folder: string,
  server: TestServer,
  env: Environment,
): Promise<void> {
  const orgId = await server.createOrg({ plan: 'business' })
  await server.overrideLimits({ servicesMax: services, endpointsMax: services }, orgId)
  const own = { ...env, PHAROS_API_KEY: await server.createKey({ orgId }) }
  const manifests = join(folder, `idle-${services}`)
  writeManifests(manifests, services)
  await fillOrg(server.url, own.PHAROS_API_KEY, services)
  const state = join(folder, `idle-${services}.db`)
  const command = (name: string) => [PROGRAM, ...name.split(' '), manifests, '--state', state, '--json']
  const options = { env: own, maxBuffer: 64 * 1024 * 1024 }
  await promisify(execFile)(process.execPath, command('adopt apply'), options)
  const { stdout } = await promisify(execFile)(process.execPath, command('apply'), options)
  const { requests, applied } = JSON.parse(stdout)
  const { secs, mib } = await fastest(command('apply'), own)
  process.stdout.write(
    `apply with nothing to do, ${applied.unchanged} services: ${requests} requests, ${secs.toFixed(2)} s, ${mib.toFixed(0)} MiB\n`,
  )
}

/** Creates the services of `writeManifests`, many at a time, because no apply is measured here. */
async function fillOrg(url: string, apiKey: string, services: number): Promise<void> {
  const limiter = new Limiter({ burstRequests: 1_000_000, refillIntervalMs: 1 })
  const client = new Client({ url, apiKey, userAgent: 'bench', limiter })
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < services; index = next++) {
      await client.createService(requestOf(index), `bench-${index}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  await client.close()
}

function requestOf(index: number): ServiceRequest {
  return {
    name: `s${index}`,
    interval_secs: 60,
    regions: ['eu-west-1'],
    endpoints: [
      {
        url: `https://s${index}.example.com/`,
        call: { Http: { method: 'GET', timeout: null, headers: { Accept: { value: 'text/html' } } } },
        assertions: [
          { StatusCode: { expected: { Eq: 200 } } },
          { Latency: { l_type: 'TotalLatency', expected: { LessThan: { secs: 0, nanos: 500_000_000 } } } },
        ],
      },
    ],
  }
}

/** Number of changes in the apply that is compared with the rate limit. */
const CHANGES = 100

/** Measures an apply of new services at the contract's rate, compared with the minimum time for as many requests. */
async function reportApply(folder: string): Promise<void> {
  const server = await startServer()
  try {
    const { secs, requests } = await measuredApply(server, join(folder, 'apply'))
    const floorSecs = ((requests - BURST_REQUESTS) * REFILL_INTERVAL_MS) / 1_000
    const terraformSecs = await terraformApply(server)
    process.stdout.write(
      `apply of ${CHANGES} creations: ${requests} requests, ${secs.toFixed(1)} s, ${beyond(secs, floorSecs)} % beyond what the limit allows (${floorSecs.toFixed(1)} s); terraform apply of the same ${terraformSecs.toFixed(1)} s\n`,
    )
  } finally {
    await server.close()
  }
}

/** Interval of the requests of another client with the same key (milliseconds). */
const OTHERS_EVERY_MS = 500

/** The same while another client uses the same key, so that the limit leaves only the rest of the rate. */
async function reportShared(folder: string): Promise<void> {
  const server = await startServer()
  const headers = { authorization: `Bearer ${server.apiKey}` }
  const others = setInterval(() => void fetch(`${server.url}/v1/regions`, { headers }), OTHERS_EVERY_MS)
  try {
    const { secs, requests } = await measuredApply(server, join(folder, 'shared'))
    const leftPerSec = 1_000 / REFILL_INTERVAL_MS - 1_000 / OTHERS_EVERY_MS
    const floorSecs = (requests - BURST_REQUESTS) / leftPerSec
    process.stdout.write(
      `apply of ${CHANGES} creations beside ${1_000 / OTHERS_EVERY_MS} requests a second with the same key: ${requests} requests, ${secs.toFixed(1)} s, ${beyond(secs, floorSecs)} % beyond what those leave (${floorSecs.toFixed(1)} s)\n`,
    )
  } finally {
    clearInterval(others)
    await server.close()
  }
}

const beyond = (secs: number, floorSecs: number): string => ((secs / floorSecs - 1) * 100).toFixed(1)

/** Applies `CHANGES` new manifests in the folder `manifests`. Returns the duration and the number of requests. */
async function measuredApply(
  server: TestServer,
  manifests: string,
): Promise<{ readonly secs: number; readonly requests: number }> {
  await server.overrideLimits({ servicesMax: CHANGES, endpointsMax: CHANGES })
  writeManifests(manifests, CHANGES)
  const env = { PATH: process.env.PATH ?? '', PHAROS_URL: server.url, PHAROS_API_KEY: server.apiKey }
  const args = [PROGRAM, 'apply', manifests, '--state', `${manifests}.db`, '--json']
  const startedAt = performance.now()
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 })
  return { secs: (performance.now() - startedAt) / 1_000, requests: JSON.parse(stdout).requests }
}

/** Duration of `terraform apply` for the same services in a separate organisation with its whole burst (seconds). */
async function terraformApply(server: TestServer): Promise<number> {
  const orgId = await server.createOrg({ plan: 'business' })
  await server.overrideLimits({ servicesMax: CHANGES, endpointsMax: CHANGES }, orgId)
  const apiKey = await server.createKey({ orgId })
  const workspace = await terraformWorkspace({ url: server.url, apiKey, provider: 'installed' })
  try {
    workspace.configure(`resource "pharos_service" "s" {
  count    = ${CHANGES}
  name     = "s\${count.index}"
  interval = "60s"
  regions  = ["eu-west-1"]
  endpoints = [{
    url        = "https://s\${count.index}.example.com/"
    http       = { method = "GET", headers = { Accept = { value = "text/html" } } }
    assertions = [
      { status_code = { eq = 200 } },
      { latency = { phase = "total", lt = "500ms" } },
    ]
  }]
}
`)
    await workspace.succeed(['init'])
    const startedAt = performance.now()
    await workspace.succeed(['apply', '-auto-approve'])
    return (performance.now() - startedAt) / 1_000
  } finally {
    workspace.remove()
  }
}

/** Writes the manifests; every `brokenEvery`-th has a misspelt field. */
function writeManifests(folder: string, count: number, brokenEvery = Number.POSITIVE_INFINITY): void {
  mkdirSync(folder)
  for (let index = 0; index < count; index += 1) {
    const text = `apiVersion: pharos/v1
kind: Service
metadata: {name: s${index}}
spec:
  interval: 60s
  regions: [eu-west-1]
  endpoints:
    - url: https://s${index}.example.com/
      headers: {Accept: text/html}
      assertions:
        - status: 200
        - latency: {total: "< 500ms"}
`
    const isBroken = (index + 1) % brokenEvery === 0
    writeFileSync(join(folder, `s${index}.yaml`), isBroken ? text.replace('status:', 'statuss:') : text)
  }
}

async function fastest(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Measure> {
  const measures: Measure[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now()
    const options = { env, maxBuffer: 64 * 1024 * 1024 }
    const stderr = await promisify(execFile)(process.execPath, ['--import', TELL_MEMORY, ...args], options)
      .catch((ended: { stderr: string }) => ended)
      .then((run) => run.stderr)
    const secs = (performance.now() - startedAt) / 1_000
    measures.push({ secs, mib: Number(/KiB (\d+)/.exec(stderr)?.[1]) / 1_024 })
  }
  return measures.reduce((best, one) => (one.secs < best.secs ? one : best))
}

function report(what: string, { secs, mib }: Measure, parse: Measure): void {
  const ratio = (secs / parse.secs).toFixed(2)
  process.stdout.write(`${what}: ${secs.toFixed(2)} s, ${mib.toFixed(0)} MiB, ${ratio} times parsing alone\n`)
}

await main()
