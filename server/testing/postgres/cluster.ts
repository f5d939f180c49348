import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { migrate, withConnection } from '../../store/postgres/schema/migrate.ts'
import { createData, newPostgresFolder, POSTGRES_USER } from './dataFolder.ts'
import { postgresPrograms } from './programs.ts'

/** Maximum wait for a start (milliseconds). */
const START_MS_MAX = 60_000

/** Databases of a PostgreSQL for tests, which are removed with it. */
export interface Databases {
  /** Creates an empty database. Resolves with its URL. */
  readonly createEmpty: () => Promise<string>
  /** Creates a database with the newest schema. Resolves with its URL. */
  readonly createMigrated: () => Promise<string>
  readonly drop: (url: string) => Promise<void>
}

/** A PostgreSQL that belongs to this process. */
export interface Cluster extends Databases {
  /** The URL of its database `postgres`. */
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Durability of a cluster: `none` is as fast as possible, `full` keeps acknowledged data, as a server demands. */
export type Durability = 'none' | 'full'

/**
 * Starts a PostgreSQL that listens only on a socket in its folder, so that parallel runs share no port. It ends with
 * this process, however that ends. `settings` are `name=value`, of postgresql.conf.
 */
export async function startCluster(
  durability: Durability,
  settings: readonly string[] = [],
): Promise<Cluster> {
  const found = postgresPrograms()
  if (found === undefined) throw new Error('this platform has no PostgreSQL for tests')
  const folder = newPostgresFolder()
  const data = join(folder, 'data')
  createData(data)
  // The shell ends PostgreSQL when its input ends, together with this process.
  const script = '"$0" "$@" >log 2>&1 & pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid; rm -rf "$PWD"'
  const child = spawn(
    '/bin/sh',
    ['-c', script, found.postgres, ...flagsOf({ data, folder, durability, settings })],
    {
      ...POSTGRES_USER,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  )
  // A test run need not wait for it.
  child.unref()
  const url = `postgresql://pharos@localhost/postgres?host=${encodeURIComponent(folder)}`
  await untilReady(url)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    ...databasesAt(url),
    url,
    stop: async () => {
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}

function flagsOf({
  data,
  folder,
  durability,
  settings,
}: {
  readonly data: string
  readonly folder: string
  readonly durability: Durability
  readonly settings: readonly string[]
}): readonly string[] {
  const all = [
    ...['listen_addresses=', `unix_socket_directories=${folder}`, 'max_connections=200', 'autovacuum=off'],
    'jit=off',
    // A durable cluster has PostgreSQL's default memory and log settings, because the benchmarks' figures are for
    // users.
    ...(durability === 'none'
      ? [
          'shared_buffers=32MB',
          'max_wal_size=256MB',
          'fsync=off',
          'full_page_writes=off',
          'synchronous_commit=off',
        ]
      : []),
  ]
  return ['-D', data, ...[...all, ...settings].flatMap((setting) => ['-c', setting])]
}

/** Databases of the server whose database `postgres` is at `server`. */
export function databasesAt(server: string): Databases {
  let template: Promise<string> | undefined
  const url = (database: string) => server.replace('/postgres?', `/${database}?`)
  const run = (statement: string) =>
    withConnection(server, async (client) => {
      await client.query(statement)
    })
  const create = async (from: string): Promise<string> => {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await run(`CREATE DATABASE ${name} TEMPLATE ${from} STRATEGY file_copy`)
    return name
  }
  const prepare = async (): Promise<string> => {
    const name = await create('template0')
    await withConnection(url(name), migrate)
    return name
  }
  return {
    createEmpty: async () => url(await create('template0')),
    createMigrated: async () => {
      template ??= prepare()
      const made = url(await create(await template))
      // A copy is a separate store.
      await withConnection(made, async (client) => {
        await client.query('UPDATE store_identity SET id = gen_random_uuid()')
      })
      return made
    },
    drop: (made) => run(`DROP DATABASE ${new URL(made).pathname.slice(1)} WITH (FORCE)`),
  }
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await sleep(20)
    }
  }
}

/** The fast cluster that the tests of this process share. The first use starts it. */
let shared: Promise<Cluster> | undefined

export function sharedCluster(): Promise<Cluster> {
  shared ??= startCluster('none')
  return shared
}
