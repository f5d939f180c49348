import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { beforeEach, describe, expect, test } from 'vitest'
import { testFolder } from '../../../api/testing/temporaryFolder.ts'
import { createService } from '../../domain/serviceChanges.ts'
import { systemEnvironment } from '../../process/systemEnvironment.ts'
import { serviceBody } from '../../testing/serviceBodies.ts'
import { SERVICE_DEPS } from '../../testing/storedServices.ts'
import { accountSuite } from '../testing/accountSuite.ts'
import { autoIncidentSuite } from '../testing/autoIncidentSuite.ts'
import { channelSuite } from '../testing/channelSuite.ts'
import { monitoringSuite } from '../testing/monitoringSuite.ts'
import { pageSuite } from '../testing/pageSuite.ts'
import { type EmptyEngine, storeSuite } from '../testing/storeSuite.ts'
import { GroupCommit } from './commits/groupCommit.ts'
import { lockDataFolder } from './files/lockDataFolder.ts'
import { MIGRATIONS, migrate, schemaVersion } from './files/migrations.ts'
import { assertDurable, databaseFile, openDatabase } from './files/openDatabase.ts'
import { restoreDatabase } from './files/restoreDatabase.ts'
import { openStore } from './openStore.ts'
import { sqliteEngine } from './sqliteEngine.ts'

async function makeEngine(nowMs = () => 0): Promise<EmptyEngine> {
  const parent = await mkdtemp(join(tmpdir(), 'pharos-suite-'))
  const remove = () => rm(parent, { recursive: true })
  return { engine: sqliteEngine(join(parent, 'data'), nowMs), remove }
}

const SUITES = [storeSuite, accountSuite, autoIncidentSuite, channelSuite, monitoringSuite, pageSuite]
for (const suite of SUITES) suite('SQLite', makeEngine)

let folder = ''
beforeEach(async () => {
  folder = testFolder()
})

test('a data folder that cannot be read is reported, and does not count as empty', async () => {
  // As without permission, but for root too.
  await symlink('endless', join(folder, 'endless'))

  expect(await sqliteEngine(join(folder, 'none'), () => 0).exists()).toBe(false)
  await expect(sqliteEngine(join(folder, 'endless'), () => 0).exists()).rejects.toThrow('ELOOP')
})

test('a database is durable when it is opened, and one that is not is refused', async () => {
  const { writer, reader } = await openDatabase(folder)

  expect(() => assertDurable(writer)).not.toThrow()
  writer.pragma('synchronous = NORMAL')
  expect(() => assertDurable(writer)).toThrow('the database is not durable')
  expect(() => reader.exec('DELETE FROM orgs')).toThrow('readonly')
  writer.close()
  reader.close()
})

test('no change is acknowledged while the file of the database is not in its place', async () => {
  const store = await openStore(folder, () => 0)
  const orgOf = (id: string) => ({ id, name: 'Acme', plan: 'business', nowMs: 0 }) as const
  await store.createOrg(orgOf('0192b1d4-5c1e-7000-8000-000000000001'))
  const file = databaseFile(folder)

  await rename(file, `${file}.away`)
  const removed = store.createOrg(orgOf('0192b1d4-5c1e-7000-8000-000000000002'))
  await expect(removed).rejects.toThrow('was removed or replaced')
  await expect(store.probeWrite(0)).rejects.toThrow('was removed or replaced')
  await copyFile(`${file}.away`, file)
  const replaced = store.createOrg(orgOf('0192b1d4-5c1e-7000-8000-000000000002'))
  await expect(replaced).rejects.toThrow('was removed or replaced')
  await rename(`${file}.away`, file)
  await store.createOrg(orgOf('0192b1d4-5c1e-7000-8000-000000000003'))

  expect((await store.listOrgs()).map(({ id }) => id.slice(-1))).toEqual(['1', '3'])
  await store.close()
})

test('database, lock and folder are accessible by their owner only', async () => {
  const dataDir = join(folder, 'new')
  const { writer, reader } = await openDatabase(dataDir)
  writer.close()
  reader.close()
  const release = await lockDataFolder(dataDir)
  release()

  const modes = await Promise.all(
    [dataDir, databaseFile(dataDir), join(dataDir, 'server.lock')].map(
      async (path) => (await stat(path)).mode & 0o777,
    ),
  )
  expect(modes).toEqual([0o700, 0o600, 0o600])
})

describe('migrations', () => {
  test('C200 a database of a newer release is refused', async () => {
    const { writer, reader } = await openDatabase(folder)
    writer.pragma(`user_version = ${MIGRATIONS.length + 1}`)
    writer.close()
    reader.close()

    await expect(openDatabase(folder)).rejects.toThrow(`this release knows ${MIGRATIONS.length}`)
  })

  test('C200 a failed migration leaves nothing behind, and is repeated', () => {
    const database = new Sqlite(':memory:')
    const first = 'CREATE TABLE a (x)'

    expect(() => migrate(database, [first, 'CREATE TABLE b (x); CREATE TABLE a (x)'])).toThrow(
      'already exists',
    )
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all()
    expect([schemaVersion(database), tables]).toEqual([0, []])
    migrate(database, [first, 'CREATE TABLE b (x)'])
    expect(schemaVersion(database)).toBe(2)
  })

  test('C200 an interrupted migration has no effect, and is repeated', async () => {
    const steps = ['CREATE TABLE a (x)', 'CREATE TABLE b (x); INSERT INTO b SELECT zeroblob(1000000)']
    const [file, cut] = [join(folder, 'cut.db'), join(folder, 'left.db')]
    const database = new Sqlite(file)
    database.pragma('journal_mode = WAL')
    migrate(database, steps.slice(0, 1))
    database.exec('INSERT INTO a VALUES (7)')
    // So little memory that the log contains pages of the unfinished migration; a copy made now equals the result of a kill.
    database.pragma('cache_size = 1')
    database.exec(`BEGIN; ${steps[1]}; PRAGMA user_version = 2`)
    await Promise.all(['', '-wal'].map((suffix) => copyFile(`${file}${suffix}`, `${cut}${suffix}`)))
    const logBytes = (await stat(`${cut}-wal`)).size
    database.close()

    const left = new Sqlite(cut)
    const before = schemaVersion(left)
    migrate(left, steps)

    expect([before, schemaVersion(left), logBytes > 1_000_000]).toEqual([1, 2, true])
    expect(left.prepare('SELECT a.x, length(b.x) AS length FROM a, b').all()).toEqual([
      { x: 7, length: 1_000_000 },
    ])
    left.close()
  })

  test('an older database keeps its rows', () => {
    const database = new Sqlite(':memory:')
    migrate(database, ['CREATE TABLE a (x)'])
    database.exec('INSERT INTO a VALUES (7)')

    migrate(database, ['CREATE TABLE a (x)', 'ALTER TABLE a ADD COLUMN y DEFAULT 8'])

    expect(database.prepare('SELECT x, y FROM a').get()).toEqual({ x: 7, y: 8 })
  })
})

test('a folder locked by one server is refused to another until it is released', async () => {
  const unlock = await lockDataFolder(folder)

  await expect(lockDataFolder(folder)).rejects.toThrow('is in use by another server')
  unlock()
  const unlockAgain = await lockDataFolder(folder)
  unlockAgain()
})

describe('group commit', () => {
  test('limits that change between two creations in one commit apply to the second', async () => {
    const store = await openStore(folder, () => 0)
    await store.activateMasterKey('first', 0)
    const orgId = systemEnvironment.uuid()
    await store.createOrg({ id: orgId, name: 'Acme', plan: 'business', nowMs: 0 })
    const create = () =>
      store.createService(orgId, undefined, ({ quota }) =>
        createService(serviceBody(), { ...SERVICE_DEPS, quota }),
      )

    const results = await Promise.allSettled([
      create(),
      create(),
      store.overrideLimits(orgId, { servicesMax: 2 }),
      create(),
      store.overrideLimits(orgId, { servicesMax: null }),
      create(),
    ])
    await store.close()

    const made = { status: 'fulfilled' }
    const limited = { status: 'rejected', reason: { message: 'plan limit: at most 2 active services' } }
    expect(results).toMatchObject([made, made, made, limited, made, made])
  })

  const open = () => {
    const database = new Sqlite(join(folder, 'group.db'))
    database.exec('CREATE TABLE a (x UNIQUE)')
    let commits = 0
    const group = new GroupCommit(database)
    group.onCommit(() => {
      commits += 1
    })
    const insert = database.prepare('INSERT INTO a VALUES (?)')
    const rows = () => database.prepare('SELECT x FROM a ORDER BY x').pluck().all()
    return { database, group, insert, rows, commits: () => commits }
  }

  test('mutations that wait together share one commit', async () => {
    const { group, insert, rows, commits } = open()

    const results = await Promise.all([1, 2, 3].map((x) => group.run(() => insert.run(x).changes)))

    expect([results, rows(), commits()]).toEqual([[1, 1, 1], [1, 2, 3], 1])
  })

  test('mutations in successive iterations of the event loop share one commit', async () => {
    const { group, insert, rows, commits } = open()

    const done: Promise<unknown>[] = []
    for (const x of [1, 2, 3]) {
      done.push(group.run(() => insert.run(x)))
      await nextTurn()
    }
    await Promise.all(done)

    expect([rows(), commits()]).toEqual([[1, 2, 3], 1])
  })

  test('a mutation that throws leaves nothing behind and does not affect the others', async () => {
    const { group, insert, rows } = open()

    const outcomes = await Promise.allSettled([
      group.run(() => insert.run(1)),
      group.run(() => {
        insert.run(2)
        throw new Error('changed its mind')
      }),
      group.run(() => insert.run(3)),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(rows()).toEqual([1, 3])
  })

  test('nothing is acknowledged when the commit fails, and the next commit works', async () => {
    const { database, group, insert, rows } = open()
    database.exec(
      'CREATE TABLE p (id PRIMARY KEY); CREATE TABLE c (id REFERENCES p DEFERRABLE INITIALLY DEFERRED)',
    )
    database.pragma('foreign_keys = ON')

    const outcomes = await Promise.allSettled([
      group.run(() => insert.run(1)),
      group.run(() => database.exec('INSERT INTO c VALUES (1)')),
    ])
    await group.run(() => insert.run(2))

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(rows()).toEqual([2])
  })

  test('on a full disk writes are refused and reads work, and writes continue when there is space', async () => {
    const { database, group, insert, rows } = open()
    const pages = database.pragma('page_count', { simple: true })
    database.pragma(`max_page_count = ${pages}`)

    const full = await Promise.allSettled([group.run(() => insert.run('x'.repeat(100_000)))])
    const during = rows()
    database.pragma('max_page_count = 1000000')
    await group.run(() => insert.run(1))

    expect(full[0]).toMatchObject({ status: 'rejected', reason: { code: 'SQLITE_FULL' } })
    expect([during, rows()]).toEqual([[], [1]])
  })
})

describe('restore', () => {
  const backUp = async (): Promise<string> => {
    const engine = sqliteEngine(join(folder, 'live'), () => 0)
    const store = await engine.open('administer')
    await store.createOrg({ id: 'org', name: 'Kept', plan: 'business', nowMs: 0 })
    const file = join(folder, 'backup.db')
    await engine.backupTo(file)
    await store.close()
    return file
  }

  test('a restored folder has everything that was in the backup', async () => {
    const file = await backUp()

    await restoreDatabase(file, join(folder, 'restored'))

    const store = await openStore(join(folder, 'restored'), () => 0)
    expect((await store.listOrgs()).map(({ name }) => name)).toEqual(['Kept'])
    await store.close()
  })

  test('a restored backup is another store, however it was restored, and a reopened one is the same', async () => {
    const file = await backUp()
    const ids: string[] = []
    const note = async (dataDir: string): Promise<void> => {
      const store = await openStore(dataDir, () => 0)
      ids.push(store.storeId)
      await store.close()
    }

    for (const name of ['one', 'two']) await restoreDatabase(file, join(folder, name))
    await mkdir(join(folder, 'byHand'))
    await copyFile(file, databaseFile(join(folder, 'byHand')))
    // A cleanly closed database has no log beside it, and can be restored from too.
    await restoreDatabase(databaseFile(join(folder, 'live')), join(folder, 'cold'))
    for (const name of ['live', 'one', 'two', 'byHand', 'cold']) await note(join(folder, name))
    await note(join(folder, 'one'))

    expect([new Set(ids).size, ids[5]]).toEqual([5, ids[1]])
  })

  test('a backup of a release without store identities becomes a store with one', async () => {
    const old = new Sqlite(join(folder, 'old.db'))
    migrate(old, MIGRATIONS.slice(0, 2))
    old.close()

    await restoreDatabase(join(folder, 'old.db'), join(folder, 'restored'))

    const store = await openStore(join(folder, 'restored'), () => 0)
    expect(store.storeId).toMatch(/^[0-9a-f-]{36}$/)
    await store.close()
  })

  test('a folder with a database is not changed', async () => {
    const file = await backUp()

    await expect(restoreDatabase(file, join(folder, 'live'))).rejects.toThrow('already has a database')
  })

  test('a file that is not a backup is refused and leaves nothing behind', async () => {
    const file = join(folder, 'nonsense')
    await writeFile(file, 'x'.repeat(10_000))

    await expect(restoreDatabase(file, join(folder, 'restored'))).rejects.toThrow('is not a backup')
    const cut = join(folder, 'cut.db')
    await writeFile(cut, (await readFile(await backUp())).subarray(0, 100_000))
    await expect(restoreDatabase(cut, join(folder, 'restored'))).rejects.toThrow(`${cut} is damaged`)
    // As a copy of results, a database with another schema.
    const other = join(folder, 'other.db')
    new Sqlite(other).exec('CREATE TABLE endpoints (number); PRAGMA user_version = 3').close()
    await expect(restoreDatabase(other, join(folder, 'restored'))).rejects.toThrow('is not a backup')
    await expect(stat(join(folder, 'restored'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
