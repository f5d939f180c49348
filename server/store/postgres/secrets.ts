import { timestamp } from '../../domain/environment.ts'
import type { SealedValue } from '../../domain/seal.ts'
import { SEALED_SECRET_COLUMNS } from '../notifications/channelSecrets.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { SecretStore } from '../store.ts'
import type { Pools } from './connections/pools.ts'
import type { Sql } from './connections/sql.ts'
import { changeForAllOrgs } from './writes/auditWrites.ts'

const SEALED_COLUMNS = `key_id AS "keyId", org_id AS "orgId", service_id AS "serviceId",
  endpoint_id AS "endpointId", slot, master_key_id AS "masterKeyId", wrap_nonce AS "wrapNonce",
  wrapped_key AS "wrappedKey", nonce, ciphertext`

/** Tables with secrets of services and of channels, and their columns. */
const SEALED_TABLES = [
  ['sealed_values', SEALED_COLUMNS],
  ['sealed_secrets', SEALED_SECRET_COLUMNS],
] as const

/** Secrets in PostgreSQL: only ciphertexts and ids, no keys. */
export function postgresSecrets({
  write,
  read,
  inTransaction,
}: Pick<Pools, 'write' | 'read' | 'inTransaction'>): SecretStore {
  return {
    masterKeyIds: async () => {
      const rows = await read.rows<{ id: string }>(
        'SELECT id FROM master_keys ORDER BY is_active DESC, activated_at DESC',
      )
      return rows.map(({ id }) => id)
    },
    activateMasterKey: async (id, nowMs) => {
      // The index allows one active key, so a first statement deactivates the previous one.
      await inTransaction(async (sql) => {
        await sql.rows('UPDATE master_keys SET is_active = false WHERE is_active AND id <> $1', [id])
        const done = `done AS (INSERT INTO master_keys (id, is_active, activated_at) VALUES ($1, true, $2)
          ON CONFLICT (id) DO UPDATE SET is_active = true, activated_at = excluded.activated_at RETURNING id)`
        await changeForAllOrgs(
          sql,
          { done, values: [id, timestamp(nowMs)] },
          { action: 'master_key.activate', targetId: id, nowMs },
        )
      })
    },
    retireMasterKey: async (id, nowMs) => {
      const done = 'done AS (DELETE FROM master_keys WHERE id = $1 AND NOT is_active RETURNING id)'
      await changeForAllOrgs(
        write,
        { done, values: [id] },
        { action: 'master_key.retire', targetId: id, nowMs },
      )
    },
    sealedValues: async (serviceId) =>
      await read.rows<SealedValue>(`SELECT ${SEALED_COLUMNS} FROM sealed_values WHERE service_id = $1`, [
        uuidOrNull(serviceId),
      ]),
    rewrapSome: async (activeId, countMax, rewrap) => {
      let count = 0
      for (const [table, columns] of SEALED_TABLES) {
        const some = await read.rows<SealedValue>(
          `SELECT ${columns} FROM ${table} WHERE master_key_id <> $1 LIMIT $2`,
          [activeId, countMax - count],
        )
        count += some.length
        await writeWrapped(write, table, some, rewrap)
      }
      return count
    },
  }
}

/** Rewraps secrets of `table`. Secrets that were replaced or rewrapped meanwhile no longer match and stay unchanged. */
async function writeWrapped(
  sql: Sql,
  table: string,
  some: readonly SealedValue[],
  rewrap: (sealed: SealedValue) => SealedValue,
): Promise<void> {
  if (some.length === 0) return
  const wrapped = some.map((sealed) => ({ was: sealed.masterKeyId, is: rewrap(sealed) }))
  await sql.rows(
    `UPDATE ${table} v SET master_key_id = u.master_key_id, wrap_nonce = u.wrap_nonce, wrapped_key = u.wrapped_key
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])
       AS u(key_id, was, master_key_id, wrap_nonce, wrapped_key)
     WHERE v.key_id = u.key_id AND v.master_key_id = u.was`,
    [
      wrapped.map(({ is }) => is.keyId),
      wrapped.map(({ was }) => was),
      wrapped.map(({ is }) => is.masterKeyId),
      wrapped.map(({ is }) => is.wrapNonce),
      wrapped.map(({ is }) => is.wrappedKey),
    ],
  )
}
