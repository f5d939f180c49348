import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { serviceResponseSchema } from '../../../api/contract/service.ts'
import { hashKey, mintKey } from '../../domain/apiKeys.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { schemaOf, withConnection } from '../../store/postgres/schema/migrate.ts'
import { MIGRATIONS } from '../../store/postgres/schema/migrations.ts'
import { apiClient } from '../apiClient.ts'
import { durableDatabases } from '../postgres/durableDatabases.ts'
import { seededRandom } from '../robustness/random.ts'
import { serviceBody } from '../serviceBodies.ts'
import { buildEarlierServer, type EarlierServer, reasonWithoutHistory } from './earlierServer.ts'
import { differences, emptyLedger } from './ledger.ts'
import { type SharedDatabase, shareDatabase } from './sharedDatabase.ts'
import { startWriters } from './writers.ts'

const WRITERS = 4
/** Enough keys that the rate limit of a key is seldom reached. */
const KEYS = WRITERS * 20
/** Number of changes in each phase of an upgrade. */
const CHANGES = 20

const skipReason = reasonWithoutHistory()
if (skipReason !== null)
  process.stderr.write(`the upgrade from an earlier commit is left out: ${skipReason}\n`)

let earlier: EarlierServer
let url: string
let database: SharedDatabase
/** A new organisation with keys, written without our programs because the schema is an older one. */
async function seedEarlier(): Promise<{ readonly orgId: string; readonly keys: readonly string[] }> {
  const orgId = randomUUID()
  const keys = Array.from({ length: KEYS }, () => mintKey(systemEnvironment))
  await withConnection(url, async (client) => {
    await client.query(
      `INSERT INTO orgs (id, name, plan, created_at, services_max, endpoints_max)
       VALUES ($1, 'Seeded', 'enterprise', '2026-01-01T00:00:00Z', 1000000, 1000000)`,
      [orgId],
    )
    await client.query(
      `INSERT INTO api_keys (id, org_id, key_hash, last4, scope, created_at)
       SELECT gen_random_uuid(), $1, hash, 'last', 'read_write', '2026-01-01T00:00:00Z' FROM unnest($2::bytea[]) hash`,
      [orgId, keys.map(hashKey)],
    )
  })
  return { orgId, keys }
}

describe.skipIf(skipReason !== null)('an upgrade from the newest commit with an earlier schema', () => {
  beforeAll(async () => {
    earlier = await buildEarlierServer()
  })
  afterAll(async () => {
    earlier.remove()
  })
  beforeEach(async () => {
    url = await durableDatabases().createEmpty()
    database = shareDatabase(url)
  })
  afterEach(() => database.remove())

  test('a newer server migrates the database of a running earlier one and serves together with it: no request fails', async () => {
    const old = await database.start({ program: earlier.program })
    const before = await withConnection(url, schemaOf)
    const { orgId, keys } = await seedEarlier()
    const ledger = emptyLedger()
    let servers = [old]
    const urls = () => servers.map((server) => server.url)
    const random = seededRandom(1)
    const writers = startWriters({ servers: urls, keys, writers: WRITERS, random, ledger })
    const changesMade = async (): Promise<void> => {
      const { made, refused, unknown } = writers.stats
      // What fails is judged below.
      while (writers.stats.made < made + CHANGES && refused + unknown === 0) await sleep(20)
    }

    await changesMade()
    const next = await database.start()
    const after = await withConnection(url, schemaOf)
    servers = [old, next]
    await changesMade()
    const [made, found] = await eachReadsTheOther([old.url, next.url], (await seedEarlier()).keys)
    servers = [next]
    await changesMade()
    const stopped = await old.stop()
    await changesMade()
    await writers.stop()

    expect([before?.version, after?.version]).toEqual([earlier.steps, MIGRATIONS.length])
    expect({ ...writers.stats }).toMatchObject({ refused: 0, unknown: 0 })
    expect(found).toEqual(made)
    expect(await differences(url, orgId, ledger)).toEqual([])
    expect([stopped, await next.stop()]).toEqual([0, 0])
  })

  test('a release that excludes the earlier one prevents its next start, with an error that says so', async () => {
    const next = await database.start()
    await next.stop()
    await withConnection(url, (client) =>
      client.query('UPDATE meta SET compatible_from = $1', [MIGRATIONS.length]),
    )

    await expect(database.start({ program: earlier.program })).rejects.toThrow(
      `this release knows ${earlier.steps}: start the release that`,
    )
  })
})

/** The responses of the servers at `urls` to a creation each, and what the other server then found. */
async function eachReadsTheOther(
  urls: readonly [string, string],
  keys: readonly string[],
): Promise<readonly (readonly unknown[])[]> {
  const made = await Promise.all(
    urls.map((at, index) => apiClient(at, keys[index] ?? '').post('/v1/services', serviceBody())),
  )
  const found = await Promise.all(
    urls.toReversed().map((at, index) => {
      const { id } = serviceResponseSchema.parse(made[index]?.json)
      return apiClient(at, keys[index + 2] ?? '').get(`/v1/services/${id}`)
    }),
  )
  return [made.map(({ text }) => text), found.map(({ text }) => text)]
}
