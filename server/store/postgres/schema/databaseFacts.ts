import type pg from 'pg'
import { sqlStateOf } from '../connections/failures.ts'
import type { DatabaseFacts } from './judgeDatabase.ts'

/** SQLSTATE of a prepared statement that already exists, and of one that does not exist. */
const MIX_UP_STATES: ReadonlySet<string> = new Set(['42P05', '26000'])

/** Facts about the database of `client`; `other` is a second connection to it. Changes nothing. */
export async function databaseFacts(
  client: pg.Client,
  other: pg.Client,
  nowMs: () => number,
): Promise<DatabaseFacts> {
  const askedAtMs = nowMs()
  const { rows } = await client.query<
    Omit<DatabaseFacts, 'clockAheadMs' | 'pooler'> & { atMs: number; pid: number }
  >(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS "fullPageWrites",
       current_setting('synchronous_commit') AS "synchronousCommit",
       current_setting('synchronous_standby_names') AS "synchronousStandbyNames",
       current_setting('archive_mode') AS "archiveMode",
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isStandby",
       r.standbys, r."synchronousStandbys", pg_backend_pid() AS pid,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "atMs"
     FROM (SELECT count(*)::integer AS standbys,
             (count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')))::integer AS "synchronousStandbys"
           FROM pg_stat_replication) r`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database has no settings')
  const { atMs, pid, ...settings } = row
  const receivedAtMs = nowMs()
  // The database read its clock at some time during the exchange: only the rest is a difference.
  const clockAheadMs = atMs > receivedAtMs ? atMs - receivedAtMs : Math.min(0, atMs - askedAtMs)
  return { ...settings, clockAheadMs, pooler: await poolerOf(client, other, pid) }
}

/** Detects a pooler: the backend that responds is not the one that the connection was given at its start. */
async function poolerOf(client: pg.Client, other: pg.Client, pid: number): Promise<DatabaseFacts['pooler']> {
  // True because the driver sets it, which its types leave out.
  if ((client as pg.Client & { readonly processID: number | null }).processID === pid) return 'none'
  try {
    for (const [index, each] of [client, other, client, other].entries()) {
      await each.query({ name: 'pharos_pooler', text: `SELECT ${1 + (index % 2)} AS number` })
    }
    return 'usable'
  } catch (error) {
    if (MIX_UP_STATES.has(sqlStateOf(error) ?? '')) return 'old'
    throw error
  }
}
