import type { SecretRole } from '../../../domain/notifications/channel.ts'
import type { SealedValue } from '../../../domain/seal.ts'
import { rowOf, type Sql } from '../connections/sql.ts'

/** Columns of a channel's secret as a SealedValue, without a service. */
export const SEALED_SECRET_COLUMNS = `key_id AS "keyId", org_id AS "orgId", '' AS "serviceId", '' AS "endpointId",
  slot, master_key_id AS "masterKeyId", wrap_nonce AS "wrapNonce", wrapped_key AS "wrappedKey", nonce, ciphertext`

/** The id of the active master key; rejects while there is none. */
export async function activeKey(sql: Sql): Promise<string> {
  const key = await rowOf<{ id: string }>(sql, 'SELECT id FROM master_keys WHERE is_active', [])
  if (key === undefined) throw new Error('no master key is active')
  return key.id
}

/** Stores a secret of a channel, replacing that of the same role. */
export async function putSecret(
  sql: Sql,
  channelId: string,
  role: SecretRole,
  sealed: SealedValue,
): Promise<void> {
  const { keyId, orgId, slot, masterKeyId, wrapNonce, wrappedKey, nonce, ciphertext } = sealed
  await sql.rows('DELETE FROM sealed_secrets WHERE channel_id = $1 AND role = $2', [channelId, role])
  await sql.rows(
    `INSERT INTO sealed_secrets (key_id, org_id, channel_id, role, slot, master_key_id, wrap_nonce, wrapped_key, nonce,
       ciphertext)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [keyId, orgId, channelId, role, slot, masterKeyId, wrapNonce, wrappedKey, nonce, ciphertext],
  )
}
