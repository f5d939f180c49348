import { addressRules } from '../../monitoring/check/network/addressRules.ts'
import { createService } from '../../server/domain/serviceChanges.ts'
import { systemEnvironment } from '../../server/process/systemEnvironment.ts'
import { openDatabase } from '../../server/store/sqlite/files/openDatabase.ts'
import { openStore } from '../../server/store/sqlite/openStore.ts'
import type { Store } from '../../server/store/store.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'
import { CLIENTS, ROUNDS } from './row.ts'

/** Creates per second without HTTP. */
export interface InsertRates {
  /** Creates of the store, each awaited before the next, and therefore with one flush each. */
  readonly oneByOne: number
  /** The rows of a create, written by bare statements in a loop without decisions, with one flush each. */
  readonly bare: number
  /** Concurrent creates of the store, as many as there are clients. */
  readonly together: number
}

const ONE_BY_ONE = 1_000
const TOGETHER = 100 * CLIENTS
/** Number of warm-up creates for the compiler. */
const WARM_UP = 300

/** The best rate of several rounds, because other work on the machine only adds time. */
async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  let best = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    await work()
    best = Math.max(best, count / ((performance.now() - started) / 1_000))
  }
  return best
}

/** The server's work for a create, from the decision on. */
function creator(store: Store, orgId: string): () => Promise<unknown> {
  const request = serviceBody()
  const { nowMs, uuid } = systemEnvironment
  const { isBlocked } = addressRules([])
  const seal = (): never => {
    throw new Error('the body has no secret')
  }
  return () =>
    store.createService(orgId, undefined, ({ quota }) =>
      createService(request, { nowMs: nowMs(), quota, uuid, seal, isBlocked }),
    )
}

async function measureStore(dataDir: string): Promise<Omit<InsertRates, 'bare'>> {
  const store = await openStore(dataDir, systemEnvironment.nowMs)
  const [org] = await store.listOrgs()
  if (org === undefined) throw new Error('there is no organisation')
  await store.activateMasterKey('bench', 0)
  const create = creator(store, org.id)
  for (let made = 0; made < WARM_UP; made += 1) await create()
  const oneByOne = await perSecond(ONE_BY_ONE, async () => {
    for (let made = 0; made < ONE_BY_ONE; made += 1) await create()
  })
  const together = await perSecond(TOGETHER, async () => {
    for (let made = 0; made < TOGETHER; made += CLIENTS) {
      await Promise.all(Array.from({ length: CLIENTS }, create))
    }
  })
  await store.close()
  return { oneByOne, together }
}

/** Runs after the store was measured, because the text of a service comes from the store. */
async function measureBare(dataDir: string): Promise<number> {
  const { writer, reader } = await openDatabase(dataDir)
  const service = writer.prepare(
    'INSERT INTO services (id, org_id, generation, response) VALUES (?, ?, 1, ?)',
  )
  const command = writer.prepare(
    "INSERT INTO commands (type, region, service_id, generation, org_id, number, created_at_ms) VALUES ('StartServiceMonitoring', 'eu-west-1', ?, 1, ?, ?, 0)",
  )
  const use = writer.prepare(
    'UPDATE orgs SET active_services = active_services + 1, active_endpoints = active_endpoints + 1, stored_services = stored_services + 1 WHERE id = ?',
  )
  const org = String(writer.prepare('SELECT id FROM orgs').pluck().get())
  const text = String(writer.prepare('SELECT response FROM services').pluck().get())
  let number = 1_000_000
  const insert = writer.transaction((id: string) => {
    number += 1
    command.run(id, org, number)
    service.run(id, org, text)
    use.run(org)
  })
  const rate = await perSecond(ONE_BY_ONE, async () => {
    for (let made = 0; made < ONE_BY_ONE; made += 1) insert.immediate(systemEnvironment.uuid())
  })
  reader.close()
  writer.close()
  return rate
}

const dataDir = process.argv[2] ?? ''
const rates: InsertRates = { ...(await measureStore(dataDir)), bare: await measureBare(dataDir) }
process.stdout.write(JSON.stringify(rates))
