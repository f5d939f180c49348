import { timestamp } from '../../domain/environment.ts'
import type { SealedValue } from '../../domain/seal.ts'
import { SEALED_SECRET_COLUMNS } from '../notifications/channelSecrets.ts'
import { recordForAllOrgs } from '../scripts/auditScripts.ts'
import { row, rows, run, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { SecretStore } from '../store.ts'

const SEALED_COLUMNS = `key_id AS "keyId", org_id AS "orgId", service_id AS "serviceId",
  endpoint_id AS "endpointId", slot, master_key_id AS "masterKeyId", wrap_nonce AS "wrapNonce",
  wrapped_key AS "wrappedKey", nonce, ciphertext`

/** Tables with secrets of services and of channels, and their columns. */
const SEALED_TABLES = [
  ['sealed_values', SEALED_COLUMNS],
  ['sealed_secrets', SEALED_SECRET_COLUMNS],
] as const

/** Secrets: only ciphertexts and ids, no keys. */
export function secrets({ read, inTransaction }: Scripts): SecretStore {
  return {
    masterKeyIds: () =>
      read(function* () {
        const text = 'SELECT id FROM master_keys ORDER BY is_active DESC, activated_at DESC'
        return (yield* rows<{ id: string }>(text, [])).map(({ id }) => id)
      }),
    activateMasterKey: (id, nowMs, by) =>
      inTransaction(function* () {
        // The index allows one active key, so a first statement deactivates the previous one.
        yield* run('UPDATE master_keys SET is_active = false WHERE is_active AND id <> $1', [id])
        yield* run(
          `INSERT INTO master_keys (id, is_active, activated_at) VALUES ($1, true, $2)
           ON CONFLICT (id) DO UPDATE SET is_active = true, activated_at = excluded.activated_at`,
          [id, timestamp(nowMs)],
        )
        yield* recordForAllOrgs({ action: 'master_key.activate', targetId: id, nowMs }, by)
      }),
    retireMasterKey: (id, nowMs) =>
      inTransaction(function* () {
        const text = 'DELETE FROM master_keys WHERE id = $1 AND NOT is_active RETURNING id'
        if ((yield* row(text, [id])) === undefined) return
        yield* recordForAllOrgs({ action: 'master_key.retire', targetId: id, nowMs })
      }),
    sealedValues: (serviceId) => {
      const text = `SELECT ${SEALED_COLUMNS} FROM sealed_values WHERE service_id = $1`
      return read(() => rows<SealedValue>(text, [uuidOrNull(serviceId)]))
    },
    rewrapSome: (activeId, countMax, rewrap) =>
      inTransaction(function* () {
        let rewrapped = 0
        for (const [table, columns] of SEALED_TABLES) {
          const some = yield* rows<SealedValue>(
            `SELECT ${columns} FROM ${table} WHERE master_key_id <> $1 LIMIT $2`,
            [activeId, countMax - rewrapped],
          )
          for (const sealed of some) {
            const { keyId, masterKeyId, wrapNonce, wrappedKey } = rewrap(sealed)
            // A secret that was replaced or rewrapped meanwhile no longer matches and stays unchanged.
            const text = `UPDATE ${table} SET master_key_id = $3, wrap_nonce = $4, wrapped_key = $5
              WHERE key_id = $1 AND master_key_id = $2`
            yield* run(text, [keyId, sealed.masterKeyId, masterKeyId, wrapNonce, wrappedKey])
          }
          rewrapped += some.length
        }
        return rewrapped
      }),
  }
}
