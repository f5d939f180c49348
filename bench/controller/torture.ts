/**
 * Long version of the suite's stress tests of controllers: two replicas killed and stopped at random for three minutes,
 * with their state in a file and again in git, and thousands of cycles with a manual change of a service before each.
 *
 * TORTURE_SECONDS, TORTURE_CYCLES and TORTURE_SEED set the duration, the number and the seed.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Client } from '../../api/client/client.ts'
import { Limiter } from '../../api/client/limiter.ts'
import { IN_FLIGHT } from '../../reconciler/apply/execute.ts'
import { failoverStress, type StateKind } from '../../reconciler/testing/failoverStress.ts'
import { manifestOf } from '../../reconciler/testing/manifestOf.ts'
import { testController } from '../../reconciler/testing/testController.ts'
import { seededRandom } from '../../server/testing/robustness/random.ts'
import { startServer } from '../../server/testing/startServer.ts'

const SECONDS = setting('TORTURE_SECONDS', 180)
const CYCLES = setting('TORTURE_CYCLES', 2_000)
const SEED = setting('TORTURE_SEED', Date.now() % 1_000_000)
/** Number of services in the soak, so that none is changed more than once in sixty cycles, which is an hour. */
const SERVICES = 60
/** Allowed growth of memory from the second to the last tenth of the soak (bytes). */
const GROWTH_BYTES_MAX = 24 * 1024 * 1024

function setting(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${name} must be a whole number`)
  return value
}

async function replicas(state: StateKind): Promise<string> {
  const server = await startServer({ rateLimit: 'none', logLevel: 'error' })
  try {
    const endsAtMs = performance.now() + SECONDS * 1_000
    const report = await failoverStress({
      url: server.url,
      apiKey: server.apiKey,
      state,
      continues: () => performance.now() < endsAtMs,
      random: seededRandom(SEED),
    })
    const { names, wanted, staleWrites, rounds, kills, stops, takeovers, writes } = report
    if (names.join() !== wanted.join())
      throw new Error(`there is ${names}, wanted is ${wanted}\n${report.lastWords.join('\n')}`)
    if (staleWrites > IN_FLIGHT)
      throw new Error(`${staleWrites} changes of an epoch arrived after the first change of a later one`)
    return `${rounds} rounds, ${kills} kills, ${stops} stops, ${takeovers} leases, ${writes} changes: no duplicate, converged, at most ${staleWrites} changes of an epoch after the first of a later one (${IN_FLIGHT} in flight)`
  } finally {
    await server.close()
  }
}

async function soak(): Promise<string> {
  const server = await startServer({ rateLimit: 'none', logLevel: 'error' })
  const orgId = await server.createOrg({ plan: 'enterprise' })
  const apiKey = await server.createKey({ orgId })
  // Manual changes must not wait for the rate limit here.
  const limiter = new Limiter({ burstRequests: 1_000_000, refillIntervalMs: 1 })
  const client = new Client({ url: server.url, apiKey, userAgent: 'torture', limiter })
  const one = await testController({ url: server.url, apiKey })
  try {
    const keys = Array.from({ length: SERVICES }, (_, index) => `s${index}`)
    one.repository.commit(Object.fromEntries(keys.map((key) => [`monitoring/${key}.yaml`, manifestOf(key)])))
    one.start()
    await one.nextCycle()
    const memory: number[] = []
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await drift(client, keys[cycle % SERVICES] ?? '')
      // The current cycle may have read the list before the change.
      await one.nextCycle()
      const left = await drifted(client)
      if (left.length > 0) throw new Error(`${left} was not put back within one interval (cycle ${cycle})`)
      one.events.length = 0
      if (cycle % Math.ceil(CYCLES / 10) === 0) memory.push(heapBytes())
    }
    const growth = (memory.at(-1) ?? 0) - (memory[1] ?? 0)
    if (growth > GROWTH_BYTES_MAX) throw new Error(`memory grew by ${Math.round(growth / 1024)} KiB`)
    return `${CYCLES} cycles, each change put back within one interval, memory ${growth > 0 ? '+' : ''}${Math.round(growth / 1024)} KiB`
  } finally {
    await one.close()
    await client.close()
    await server.close()
  }
}

async function drift(client: Client, name: string): Promise<void> {
  const { services } = await client.listServices()
  const service = services.find((one) => one.name === name)
  if (service === undefined) throw new Error(`there is no ${name}`)
  const call = { Http: { method: 'GET', timeout: null } } as const
  await client.replaceService(service.id, {
    name,
    regions: service.regions,
    interval_secs: 300,
    endpoints: [{ url: `https://${name}.example.com/`, call, assertions: [] }],
  })
}

async function drifted(client: Client): Promise<readonly string[]> {
  const { services } = await client.listServices()
  return services.flatMap(({ name, interval_secs }) => (interval_secs === 60 ? [] : [name]))
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

process.stdout.write(`seed ${SEED} (TORTURE_SEED repeats it)\n`)
process.stdout.write(`replicas, state in a file: ${await replicas('file')}\n`)
process.stdout.write(`replicas, state in git: ${await replicas('git')}\n`)
process.stdout.write(`soak: ${await soak()}\n`)
