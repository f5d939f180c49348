import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, sharedCluster } from '../../../testing/postgres/cluster.ts'
import { assertDurable } from './assertDurable.ts'
import { databaseFacts } from './databaseFacts.ts'
import { type DatabaseFacts, judgeDatabase } from './judgeDatabase.ts'
import { withConnection } from './migrate.ts'

let cluster: Cluster
let url: string
beforeAll(async () => {
  cluster = await sharedCluster()
  url = await cluster.createEmpty()
})
afterAll(() => cluster.drop(url))

const GOOD: DatabaseFacts = {
  ...{ version: 160_000, encoding: 'UTF8', isStandby: false, archiveMode: 'on' },
  ...{ fsync: 'on', fullPageWrites: 'on', synchronousCommit: 'on' },
  ...{ synchronousStandbyNames: 'ANY 1 (a, b)', standbys: 2, synchronousStandbys: 1 },
  ...{ clockAheadMs: 300, pooler: 'usable' },
}

test.each<[Partial<DatabaseFacts>, string, RegExp | undefined]>([
  [{}, 'ok', undefined],
  [{ synchronousCommit: 'remote_apply' }, 'ok', undefined],
  [{ synchronousStandbyNames: '', standbys: 0, synchronousStandbys: 0 }, 'ok', undefined],
  [{ version: 130_012 }, 'refused', /older than PostgreSQL 14/],
  [{ encoding: 'SQL_ASCII' }, 'refused', /encoding is SQL_ASCII/],
  [{ isStandby: true }, 'refused', /use the URL of the primary/],
  [{ fsync: 'off' }, 'refused', /fsync is off/],
  [{ fullPageWrites: 'off' }, 'refused', /full_page_writes is off/],
  [{ synchronousCommit: 'local' }, 'refused', /synchronous_commit is local/],
  [{ synchronousCommit: 'off' }, 'refused', /synchronous_commit is off/],
  [{ synchronousStandbyNames: '', synchronousStandbys: 0 }, 'broken', /2 standbys are asynchronous/],
  [{ synchronousStandbys: 0 }, 'warning', /no such standby is visible/],
  [{ clockAheadMs: -2_500 }, 'warning', /2\.5 s behind this machine's/],
  [{ clockAheadMs: 60_000 }, 'warning', /60\.0 s ahead of this machine's/],
  [{ pooler: 'old' }, 'refused', /PgBouncer 1\.21/],
])('a database with %j is %s', (facts, health, problem) => {
  const found = judgeDatabase({ ...GOOD, ...facts }).filter((finding) => finding.health !== 'ok')

  expect(found.map((finding) => finding.health)).toEqual(health === 'ok' ? [] : [health])
  if (problem !== undefined) expect(found[0]?.text).toMatch(problem)
})

test('the facts of a real database are read, and its clock agrees with that of this machine', async () => {
  const facts = await withConnection(url, (client) =>
    withConnection(url, (other) => databaseFacts(client, other, Date.now)),
  )
  const late = await withConnection(url, (client) => databaseFacts(client, client, () => Date.now() - 60_000))

  expect(facts).toMatchObject({
    ...{ encoding: 'UTF8', isStandby: false, fsync: 'off', standbys: 0, pooler: 'none' },
    ...{ synchronousStandbyNames: '', archiveMode: 'off' },
  })
  expect(facts.version).toBeGreaterThanOrEqual(140_000)
  expect(Math.abs(facts.clockAheadMs)).toBeLessThan(1_000)
  expect(late.clockAheadMs).toBeGreaterThan(50_000)
})

test('a pooler that keeps the prepared statements of its clients apart does not stop a start', async () => {
  const starting = withConnection(url, (client) => {
    // A pooler gives each client a number of its own.
    Object.assign(client, { processID: 0 })
    return withConnection(url, (other) => assertDurable(client, other, Date.now))
  })

  // The cluster of the tests is not durable, which is the only problem.
  await expect(starting).rejects.toThrow(/^the database cannot be used: fsync is off/)
})
