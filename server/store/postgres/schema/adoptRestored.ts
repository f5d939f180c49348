import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ADVISORY_LOCKS } from './migrate.ts'

/** PostgreSQL's code for what a user may not do. */
const FORBIDDEN = '42501'
const ATTEMPTS = 5
const ATTEMPT_PAUSE_MS = 50

/**
 * Makes a database that was restored from a dump, or copied, a store of its own: regions and clients start anew with it, as with a
 * restored folder. Transactions have other numbers here, so places among the commands are written anew. Does nothing in the
 * database in which the store was made. Rejects when the schema is not the newest one.
 */
export async function adoptRestored(client: pg.Client): Promise<void> {
  const here = await placeOf(client)
  if (isSame(await madeIn(client), here)) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [
      ADVISORY_LOCKS.space,
      ADVISORY_LOCKS.migration,
    ])
    const known = await madeIn(client)
    // One of an earlier release does not say where it was made.
    const isElsewhere = known === null ? await isAhead(client) : !isSame(known, here)
    if (isElsewhere) await client.query(RENEW)
    await client.query('UPDATE store_identity SET made_in = $1', [here])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function madeIn(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ madeIn: string | null }>(
    'SELECT made_in AS "madeIn" FROM store_identity',
  )
  return rows[0]?.madeIn ?? null
}

/** The cluster and the database, which a dump and a copy change, and a standby or a restored archive do not. */
async function placeOf(client: pg.Client): Promise<string> {
  const { rows: databases } = await client.query<{ oid: string }>(
    'SELECT oid::text FROM pg_database WHERE datname = current_database()',
  )
  return `${await clusterOf(client)}/${databases[0]?.oid}`
}

/** The identifier of the cluster; '' where users may not read it. */
async function clusterOf(client: pg.Client): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await client.query<{ id: string }>(
        'SELECT system_identifier::text AS id FROM pg_control_system()',
      )
      return rows[0]?.id ?? ''
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.code === FORBIDDEN) return ''
      // It is read while a checkpoint writes it.
      if (attempt === ATTEMPTS) throw error
      await sleep(ATTEMPT_PAUSE_MS)
    }
  }
}

/** Whether two places are one; the cluster counts where both name it. */
function isSame(known: string | null, here: string): boolean {
  const [[cluster, database], [otherCluster, otherDatabase]] = [known?.split('/') ?? [], here.split('/')]
  return database === otherDatabase && (cluster === '' || otherCluster === '' || cluster === otherCluster)
}

/** Whether a command is of a transaction that this database has not had. */
async function isAhead(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ isAhead: boolean }>(
    'SELECT EXISTS (SELECT FROM commands WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())) AS "isAhead"',
  )
  return rows[0]?.isAhead === true
}

/** A reader goes back to the first command that it may not have read: some are published twice. */
const RENEW = `
UPDATE outbox_readers r SET xid = pg_current_xact_id(), sequence = coalesce(
  (SELECT min(c.sequence) - 1 FROM commands c WHERE (c.xid, c.sequence) > (r.xid, r.sequence)),
  (SELECT max(sequence) FROM commands), 0);
UPDATE commands SET xid = pg_current_xact_id();
UPDATE quiet_changes SET xid = pg_current_xact_id();
UPDATE outbox_horizon SET deleted_up_to = pg_current_xact_id();
UPDATE store_identity SET id = gen_random_uuid();
DELETE FROM leases`
