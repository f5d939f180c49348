import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresPrograms } from './programs.ts'

/** The user and group with which root runs PostgreSQL, which refuses to run as root. */
const NOBODY = 65_534
/** Options of processes of PostgreSQL. */
export const POSTGRES_USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Names a data folder for all processes of a run to copy, which takes a tenth of the computing of initdb. */
const SHARED = 'PHAROS_TEST_POSTGRES_DATA'

/** Creates a temporary folder that PostgreSQL can write. */
export function newPostgresFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-pg-'))
  if (POSTGRES_USER.uid !== undefined) chownSync(folder, NOBODY, NOBODY)
  return folder
}

/** Creates the data folder `data` in a folder of newPostgresFolder, for a server that has not started yet. */
export function createData(data: string): void {
  const shared = process.env[SHARED]
  if (shared === undefined) initialize(data)
  else runAsPostgres('cp', ['-r', shared, data])
}

/** Creates the data folder that later calls of createData copy, until the returned function removes it. */
export function shareData(): () => void {
  const folder = newPostgresFolder()
  const data = join(folder, 'data')
  initialize(data)
  process.env[SHARED] = data
  return () => {
    delete process.env[SHARED]
    rmSync(folder, { recursive: true })
  }
}

function initialize(data: string): void {
  const found = postgresPrograms()
  if (found === undefined) throw new Error('this platform has no PostgreSQL for tests')
  const flags = ['-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--wal-segsize=4']
  runAsPostgres(found.initdb, ['-D', data, '-U', 'pharos', ...flags])
}

function runAsPostgres(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { ...POSTGRES_USER, cwd: tmpdir(), encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
}
