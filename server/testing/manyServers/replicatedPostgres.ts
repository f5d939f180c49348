import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { createData, newPostgresFolder, POSTGRES_USER } from '../postgres/dataFolder.ts'
import { postgresPrograms } from '../postgres/programs.ts'

type StandbyKind = 'synchronous' | 'asynchronous'

/** A durable PostgreSQL in a folder, which can be stopped in every way. */
export interface PostgresServer {
  /** The URL of its database `postgres`. */
  readonly url: string
  readonly start: () => Promise<void>
  /** `immediate` is a crash: data that was not flushed is lost, and the next start recovers. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  readonly restart: () => Promise<void>
  /** Kills the first process, whose end the others notice. */
  readonly kill: () => void
  /** Starts a standby. Unless it is asynchronous, this server acknowledges nothing without it from then on. */
  readonly makeStandby: (kind?: StandbyKind) => Promise<PostgresServer>
  /**
   * Starts to archive the log, which restarts the server, and makes a copy. Resolves with a function that recovers the
   * copy to the end of the archive.
   */
  readonly makeBackup: () => Promise<() => Promise<PostgresServer>>
  /** Makes a standby accept writes. */
  readonly promote: () => Promise<void>
  readonly remove: () => void
}

/** Creates and starts a server in a temporary folder. It is stopped when this process ends. */
export async function startPostgres(): Promise<PostgresServer> {
  const server = serverIn(newPostgresFolder())
  createData(server.data)
  await server.start()
  return server
}

function serverIn(folder: string): PostgresServer & { readonly data: string } {
  const data = join(folder, 'data')
  const url = `postgresql://pharos@localhost/postgres?host=${encodeURIComponent(folder)}`
  const settings = [`unix_socket_directories=${folder}`, 'listen_addresses=', 'max_connections=200']
  const flags = [...settings, 'wal_keep_size=1GB', 'shared_buffers=32MB']
    .map((setting) => `-c ${setting}`)
    .join(' ')
  const control = (...args: readonly string[]) =>
    run('pg_ctl', [...args, '-w', '-D', data, '-l', join(folder, 'log'), '-o', flags])
  const restart = () => control('restart', '-m', 'fast')
  const stop: PostgresServer['stop'] = (mode) => control('stop', '-m', mode)
  const atExit = () =>
    void spawnSync(programOf('pg_ctl'), ['stop', '-m', 'immediate', '-D', data], POSTGRES_USER)
  process.once('exit', atExit)
  return {
    ...{ url, data, stop },
    start: () => control('start'),
    restart,
    makeBackup: () => makeBackup(folder, url, restart),
    kill: () => {
      const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    makeStandby: (kind = 'synchronous') => makeStandby(folder, url, kind),
    promote: () => control('promote'),
    remove: () => {
      process.off('exit', atExit)
      atExit()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function makeStandby(folder: string, url: string, kind: StandbyKind): Promise<PostgresServer> {
  const standby = await copyServer(folder, url, {
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = 'host=${folder} user=pharos application_name=standby'\n`,
  })
  await standby.start()
  await withConnection(url, async (client) => {
    if (kind === 'synchronous') {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      await client.query('SELECT pg_reload_conf()')
    }
    await untilReplicating(client, kind)
  })
  return standby
}

/**
 * Archives the log every second, and copies the data. Resolves with a function that recovers the copy to the end of the
 * archive.
 */
async function makeBackup(
  folder: string,
  url: string,
  restart: () => Promise<void>,
): Promise<() => Promise<PostgresServer>> {
  const archive = newPostgresFolder()
  await withConnection(url, async (client) => {
    await client.query("ALTER SYSTEM SET archive_mode = 'on'")
    await client.query("ALTER SYSTEM SET archive_timeout = '1s'")
    await client.query(`ALTER SYSTEM SET archive_command = 'cp %p ${archive}/%f'`)
  })
  await restart()
  const copy = await copyServer(folder, url, {
    'recovery.signal': '',
    'postgresql.auto.conf': `restore_command = 'cp ${archive}/%f %p'\n`,
  })
  return async () => {
    await copy.start()
    await withConnection(copy.url, async (client) => {
      const isInRecovery = async () =>
        (await client.query('SELECT 1 WHERE pg_is_in_recovery()')).rows.length > 0
      while (await isInRecovery()) await sleep(20)
    })
    rmSync(archive, { recursive: true })
    return copy
  }
}

/** Creates a server with a copy of the data in `folder` and the given files, without starting it. */
async function copyServer(folder: string, url: string, files: Readonly<Record<string, string>>) {
  const copy = serverIn(newPostgresFolder())
  await withConnection(url, async (client) => {
    await client.query("SELECT pg_backup_start('copy', true)")
    mkdirSync(copy.data, { mode: 0o700 })
    cpSync(join(folder, 'data'), copy.data, {
      recursive: true,
      filter: (path) => !path.endsWith('/postmaster.pid') && !path.endsWith('/postmaster.opts'),
    })
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    writeFileSync(join(copy.data, 'backup_label'), rows[0]?.labelfile ?? '')
  })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(copy.data, name), text)
  if (POSTGRES_USER.uid !== undefined) {
    await run('chown', ['-R', `${POSTGRES_USER.uid}:${POSTGRES_USER.gid}`, copy.data])
  }
  return copy
}

async function untilReplicating(client: pg.Client, kind: StandbyKind): Promise<void> {
  const state = kind === 'synchronous' ? 'sync' : 'async'
  for (;;) {
    const { rows } = await client.query(
      "SELECT 1 FROM pg_stat_replication WHERE sync_state = $1 AND state = 'streaming'",
      [state],
    )
    if (rows.length > 0) return
    await sleep(20)
  }
}

function programOf(name: string): string {
  const found = postgresPrograms()
  if (found === undefined) throw new Error('this platform has no PostgreSQL for tests')
  return join(dirname(found.postgres), name)
}

async function run(name: 'pg_ctl' | 'chown', args: readonly string[]): Promise<void> {
  const [program, user] = name === 'chown' ? [name, {}] : [programOf(name), POSTGRES_USER]
  // Without pipes, because the server outlives pg_ctl and would keep them open.
  const child = spawn(program, args, { ...user, cwd: tmpdir(), stdio: 'ignore' })
  const [code]: unknown[] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${String(code)}`)
}
