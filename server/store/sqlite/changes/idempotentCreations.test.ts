import Sqlite from 'better-sqlite3'
import { beforeEach, expect, test } from 'vitest'
import { testFolder } from '../../../../api/testing/temporaryFolder.ts'
import { MIGRATIONS, migrate } from '../files/migrations.ts'
import { databaseFile, openDatabase } from '../files/openDatabase.ts'
import { prepareIdempotency } from './idempotentCreations.ts'

const fingerprintOf = (key: string, body = 'body') => ({
  keyHash: Buffer.from(key),
  bodyFingerprint: Buffer.from(body),
  earlierBodyFingerprint: () => Buffer.from('past'),
})

let folder: string
beforeEach(async () => {
  folder = testFolder()
})

test('the newest long responses of an organisation are remembered, and all short ones', async () => {
  const { writer, reader } = await openDatabase(folder)
  const remember = prepareIdempotency(writer, { longBytesMax: 100_000 })
  let nowMs = 0
  let created = 0
  const create = (orgId: string, key: string, response: string): void => {
    const fingerprint = fingerprintOf(key)
    nowMs += 1
    remember(orgId, fingerprint, nowMs, () => {
      created += 1
      return response
    })
  }
  const long = 'é'.repeat(15_000)

  create('acme', 'short', 'x')
  create('other', 'long', long)
  for (const key of ['a', 'b', 'c', 'd', 'e']) create('acme', key, long)
  for (const key of ['short', 'c', 'd', 'e']) create('acme', key, long)
  create('other', 'long', long)
  const before = created
  for (const key of ['a', 'b']) create('acme', key, long)

  expect([before, created]).toEqual([7, 9])
  writer.close()
  reader.close()
})

test('a long response reads no other response, and their lengths once, however many are remembered or removed', async () => {
  for (const database of Object.values(await openDatabase(folder))) database.close()
  const run: string[] = []
  const database = new Sqlite(databaseFile(folder), { verbose: (sql) => run.push(String(sql)) })
  const remember = prepareIdempotency(database, { longBytesMax: 50_000 })
  for (const [key, chars] of Object.entries({ a: 16_385, b: 16_385, c: 50_000 })) {
    const fingerprint = fingerprintOf(key)
    remember('acme', fingerprint, 0, () => 'x'.repeat(chars))
  }

  const looks = [...run].flatMap((sql) =>
    database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(),
  )

  const ran = (start: string): number => run.filter((sql) => sql.startsWith(start)).length
  expect([ran('SELECT sum'), ran('DELETE')]).toEqual([3, 2])
  const one = 'USING PRIMARY KEY (org_id=? AND key_hash=?)'
  const reading = looks.filter(({ detail }) => /^(SEARCH|SCAN)/.test(detail) && !detail.includes(one))
  expect(reading.length).toBeGreaterThan(0)
  expect(reading.filter(({ detail }) => !detail.includes('USING COVERING INDEX'))).toEqual([])
  database.close()
})

test('the newest short responses of an organisation are remembered, without counting them', async () => {
  for (const database of Object.values(await openDatabase(folder))) database.close()
  const run: string[] = []
  const database = new Sqlite(databaseFile(folder), { verbose: (sql) => run.push(String(sql)) })
  const remember = prepareIdempotency(database, { shortMax: 50 })
  for (let made = 1; made <= 120; made += 1) remember('acme', fingerprintOf(`key ${made}`), 0, () => 'x')
  remember('other', fingerprintOf('key 1'), 0, () => 'x')
  const looks = [...new Set(run)].flatMap((sql) =>
    database.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(),
  )

  const responses = [120, 71, 70].map((made) =>
    remember('acme', fingerprintOf(`key ${made}`), 0, () => 'forgotten'),
  )

  expect(responses).toEqual(['x', 'x', 'forgotten'])
  expect(looks.filter(({ detail }) => detail.startsWith('SCAN'))).toEqual([])
  expect(
    database.prepare("SELECT count(*) FROM remembered_creations WHERE org_id = 'acme'").pluck().get(),
  ).toBe(50)
  database.close()
})

test('responses stored by an earlier release in its own format are returned again', async () => {
  const { writer, reader } = await openDatabase(folder)
  const remember = prepareIdempotency(writer)
  remember('acme', fingerprintOf('key', 'past'), 0, () => 'first')

  expect(remember('acme', fingerprintOf('key', 'body'), 1, () => 'second')).toBe('first')
  expect(() =>
    remember(
      'acme',
      { ...fingerprintOf('key'), earlierBodyFingerprint: () => Buffer.from('else') },
      1,
      () => '',
    ),
  ).toThrow('another body')
  for (const database of [writer, reader]) database.close()
})

test('long responses that were remembered before lengths were stored count as well', () => {
  const database = new Sqlite(databaseFile(folder))
  migrate(database, MIGRATIONS.slice(0, 1))
  const insert = database.prepare("INSERT INTO remembered_creations VALUES ('acme', ?, x'', ?, ?)")
  for (const [index, chars] of [16_384, 16_385, 30_000].entries()) {
    insert.run(Buffer.from([index]), 'x'.repeat(chars), index)
  }
  migrate(database)

  const fingerprint = fingerprintOf('new')
  prepareIdempotency(database, { longBytesMax: 50_000 })('acme', fingerprint, 3, () => 'x'.repeat(20_000))

  const left = database.prepare('SELECT length(answer) FROM remembered_creations ORDER BY created_at_ms')
  expect(left.pluck().all()).toEqual([16_384, 30_000, 20_000])
  database.close()
})
