import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { withConnection } from '../../store/postgres/schema/migrate.ts'
import { postgresPrograms } from '../postgres/programs.ts'

/** The user and group as whom root runs PostgreSQL, which refuses to run as root. */
const NOBODY = 65_534
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

type StandbyKind = 'synchronous' | 'asynchronous'

/** A PostgreSQL that keeps what it acknowledged, in a folder, and can be stopped in every way. */
export interface PostgresServer {
  /** The URL of its database `postgres`. */
  readonly url: string
  readonly start: () => Promise<void>
  /** `immediate` is a crash: what was not flushed is lost, and the next start recovers. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  readonly restart: () => Promise<void>
  /** Kills its first process, whose end the others notice. */
  readonly kill: () => void
  /** A running standby; unless it is asynchronous, this server acknowledges nothing without it from then on. */
  readonly makeStandby: (kind?: StandbyKind) => Promise<PostgresServer>
  /** Makes a standby accept writes. */
  readonly promote: () => Promise<void>
  readonly remove: () => void
}

/** Makes and starts a server in a temporary folder. It is stopped when this process ends. */
export async function startPostgres(): Promise<PostgresServer> {
  const server = serverIn(newFolder())
  await run('initdb', [
    '-D',
    server.data,
    '-U',
    'pharos',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '--no-sync',
    '--wal-segsize=4',
  ])
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
  const stop: PostgresServer['stop'] = (mode) => control('stop', '-m', mode)
  const atExit = () => void spawnSync(programOf('pg_ctl'), ['stop', '-m', 'immediate', '-D', data], USER)
  process.once('exit', atExit)
  return {
    ...{ url, data, stop },
    start: () => control('start'),
    restart: () => control('restart', '-m', 'fast'),
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
  const standbyFolder = newFolder()
  const standby = serverIn(standbyFolder)
  await withConnection(url, async (client) => {
    await client.query("SELECT pg_backup_start('standby', true)")
    mkdirSync(standby.data, { mode: 0o700 })
    cpSync(join(folder, 'data'), standby.data, {
      recursive: true,
      filter: (path) => !path.endsWith('/postmaster.pid') && !path.endsWith('/postmaster.opts'),
    })
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
    writeFileSync(join(standby.data, 'backup_label'), rows[0]?.labelfile ?? '')
    writeFileSync(join(standby.data, 'standby.signal'), '')
    const primary = `primary_conninfo = 'host=${folder} user=pharos application_name=standby'\n`
    writeFileSync(join(standby.data, 'postgresql.auto.conf'), primary)
  })
  if (USER.uid !== undefined) await run('chown', ['-R', `${NOBODY}:${NOBODY}`, standby.data])
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

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pg-'))
  if (USER.uid !== undefined) chownSync(folder, NOBODY, NOBODY)
  return folder
}

function programOf(name: string): string {
  const found = postgresPrograms()
  if (found === undefined) throw new Error('this platform has no PostgreSQL for tests')
  return join(dirname(found.postgres), name)
}

async function run(name: 'initdb' | 'pg_ctl' | 'chown', args: readonly string[]): Promise<void> {
  const [program, user] = name === 'chown' ? [name, {}] : [programOf(name), USER]
  // Without pipes: the server goes on after pg_ctl, and would keep them open.
  const child = spawn(program, args, { ...user, cwd: tmpdir(), stdio: 'ignore' })
  const [code]: unknown[] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${String(code)}`)
}
