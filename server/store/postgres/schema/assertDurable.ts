import type pg from 'pg'

/** The oldest release that has what the statements use. */
const VERSION_MIN = 140_000

interface Settings {
  readonly version: number
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  readonly encoding: string
  readonly isStandby: boolean
}

/** Rejects when the database of `client` would lose what it acknowledged, cannot be written, or is too old. */
export async function assertDurable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS "fullPageWrites",
       current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby"`,
  )
  const problem = rows[0] === undefined ? 'it has no settings' : problemOf(rows[0])
  if (problem !== undefined) throw new Error(`the database cannot be used: ${problem}`)
}

/** The first reason not to use a database with these settings; `undefined` for none. Pure. */
export function problemOf(settings: Settings): string | undefined {
  const { version, encoding, isStandby, fsync, fullPageWrites, synchronousCommit } = settings
  if (version < VERSION_MIN) return 'it is older than PostgreSQL 14: upgrade it'
  if (encoding !== 'UTF8') return `its encoding is ${encoding}: create one with ENCODING 'UTF8'`
  if (isStandby) return 'it is a standby and cannot be written: name the primary'
  if (fsync !== 'on') return 'fsync is off, and a crash would lose what was acknowledged: set it to on'
  if (fullPageWrites !== 'on') return 'full_page_writes is off, and a crash could damage it: set it to on'
  if (synchronousCommit === 'off' || synchronousCommit === 'local') {
    return `synchronous_commit is ${synchronousCommit}, and a crash or failover would lose what was acknowledged: set it to on`
  }
  return undefined
}
