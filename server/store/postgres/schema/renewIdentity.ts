import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { migrating } from './migrate.ts'

/** SQLSTATE of insufficient privileges. */
const FORBIDDEN = '42501'
const ATTEMPTS = 5
/** Cluster, database and table. */
const PLACE_PARTS = 3
const ATTEMPT_PAUSE_MS = 50

/**
 * Gives a database that was copied or restored from a dump a new identity, so that regions and clients start afresh, as
 * with a restored folder. Transaction ids differ in the new database, so positions in the outbox are renewed. Changes
 * nothing in the original database. Requires the newest schema.
 */
export async function renewIdentity(client: Client): Promise<void> {
  const here = await placeOf(client)
  const recorded = await madeIn(client)
  if (recorded?.split('/').length === PLACE_PARTS && isSame(recorded, here)) return
  await migrating(client, 'BEGIN', async () => {
    const known = await madeIn(client)
    // Earlier releases did not record where the store was created.
    const isElsewhere = known === null ? await isAhead(client) : !isSame(known, here)
    if (isElsewhere) await client.query(RENEW)
    await client.query('UPDATE store_identity SET made_in = $1', [here])
  })
}

async function madeIn(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ madeIn: string | null }>(
    'SELECT made_in AS "madeIn" FROM store_identity',
  )
  return rows[0]?.madeIn ?? null
}

/**
 * Cluster, database and table: different after a dump or copy, equal on a standby or after a restored archive. A dump
 * that is restored with `--clean` into its own database has new tables.
 */
async function placeOf(client: Client): Promise<string> {
  const { rows: databases } = await client.query<{ oids: string }>(
    `SELECT oid || '/' || 'store_identity'::regclass::oid AS oids FROM pg_database WHERE datname = current_database()`,
  )
  return `${await clusterOf(client)}/${databases[0]?.oids}`
}

/** The identifier of the cluster; '' when this user may not read it. */
async function clusterOf(client: Client): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await client.query<{ id: string }>(
        'SELECT system_identifier::text AS id FROM pg_control_system()',
      )
      return rows[0]?.id ?? ''
    } catch (error) {
      if (error instanceof DatabaseError && error.code === FORBIDDEN) return ''
      // A concurrent checkpoint can make the read fail.
      if (attempt === ATTEMPTS) throw error
      await sleep(ATTEMPT_PAUSE_MS)
    }
  }
}

/** Whether two places are equal, as far as they are known: earlier releases did not record the table. */
function isSame(known: string | null, here: string): boolean {
  const [[cluster, database, table], [otherCluster, otherDatabase, otherTable]] = [
    known?.split('/') ?? [],
    here.split('/'),
  ]
  return (
    database === otherDatabase &&
    (table === undefined || table === otherTable) &&
    (cluster === '' || otherCluster === '' || cluster === otherCluster)
  )
}

/** Whether a command has a transaction id that this database has not reached. */
async function isAhead(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ isAhead: boolean }>(
    'SELECT EXISTS (SELECT FROM commands WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())) AS "isAhead"',
  )
  return rows[0]?.isAhead === true
}

/** Readers go back to the first command they may not have read: some commands are published twice. */
const RENEW = `
UPDATE outbox_readers r SET xid = pg_current_xact_id(), sequence = coalesce(
  (SELECT min(c.sequence) - 1 FROM commands c WHERE (c.xid, c.sequence) > (r.xid, r.sequence)),
  (SELECT max(sequence) FROM commands), 0);
UPDATE commands SET xid = pg_current_xact_id();
UPDATE quiet_changes SET xid = pg_current_xact_id();
UPDATE outbox_horizon SET deleted_up_to = pg_current_xact_id();
UPDATE store_identity SET id = gen_random_uuid();
DELETE FROM leases`
