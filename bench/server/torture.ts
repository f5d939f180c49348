import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fuzz } from '../../server/hardness/fuzz.ts'
import { killLoop } from '../../server/hardness/killLoop.ts'
import { seededRandom } from '../../server/hardness/random.ts'
import { startServer } from '../../server/testing/startServer.ts'

/** What the suite does in small, in large: numbers and the seed may be changed by variables. */
const KILLS = Number(process.env.TORTURE_KILLS ?? 100)
const REQUESTS = Number(process.env.TORTURE_REQUESTS ?? 200_000)
const SEED = Number(process.env.TORTURE_SEED ?? Date.now() % 1_000_000)

process.stdout.write(`seed ${SEED} (TORTURE_SEED repeats it)\n`)

const folder = await mkdtemp(join(tmpdir(), 'pharos-torture-'))
const { kills, acknowledged, services, incidents } = await killLoop(
  join(folder, 'data'),
  KILLS,
  seededRandom(SEED),
)
await rm(folder, { recursive: true })
process.stdout.write(
  `${kills} kills, ${acknowledged} acknowledged writes (${services} services and ${incidents} incidents kept), none lost\n`,
)

const server = await startServer({ rateLimit: 'none', plan: 'enterprise', logLevel: 'error' })
const counts = await fuzz({
  url: server.url,
  key: server.apiKey,
  requests: REQUESTS,
  random: seededRandom(SEED),
})
await server.close()
process.stdout.write(`${REQUESTS} random requests, none 5xx: ${JSON.stringify(counts)}\n`)
