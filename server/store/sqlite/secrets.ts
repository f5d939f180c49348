import { timestamp } from '../../domain/environment.ts'
import type { SealedValue } from '../../domain/seal.ts'
import type { SecretStore } from '../store.ts'
import type { RecordForAllOrgs } from './changes/audit.ts'
import type { GroupCommit } from './commits/groupCommit.ts'
import type { Connections } from './files/openDatabase.ts'

/** Inserts a SealedValue by its field names. */
export const insertSealedSql = `
  INSERT INTO sealed_values (key_id, org_id, service_id, endpoint_id, slot, master_key_id,
    wrap_nonce, wrapped_key, nonce, ciphertext)
  VALUES (@keyId, @orgId, @serviceId, @endpointId, @slot, @masterKeyId,
    @wrapNonce, @wrappedKey, @nonce, @ciphertext)`

const SEALED_COLUMNS = `key_id AS keyId, org_id AS orgId, service_id AS serviceId,
  endpoint_id AS endpointId, slot, master_key_id AS masterKeyId, wrap_nonce AS wrapNonce,
  wrapped_key AS wrappedKey, nonce, ciphertext`

/** Secrets in SQLite: only ciphertexts and ids, no keys. */
export function sqliteSecrets(
  { reader, writer }: Connections,
  { commits, noteForAll }: { readonly commits: GroupCommit; readonly noteForAll: RecordForAllOrgs },
): SecretStore {
  const ids = reader
    .prepare<[], string>('SELECT id FROM master_keys ORDER BY is_active DESC, activated_at DESC')
    .pluck()
  const deactivate = writer.prepare('UPDATE master_keys SET is_active = 0')
  const activate = writer.prepare(
    `INSERT INTO master_keys (id, is_active, activated_at) VALUES (?, 1, ?)
     ON CONFLICT (id) DO UPDATE SET is_active = 1, activated_at = excluded.activated_at`,
  )
  const retire = writer.prepare('DELETE FROM master_keys WHERE id = ? AND is_active = 0')
  const ofService = reader.prepare<[string], SealedValue>(
    `SELECT ${SEALED_COLUMNS} FROM sealed_values WHERE service_id = ?`,
  )
  // Secrets of channels belong to no service.
  const ofChannels = SEALED_COLUMNS.replace('service_id', "''").replace('endpoint_id', "''")
  const tables = [
    ['sealed_values', SEALED_COLUMNS],
    ['sealed_secrets', ofChannels],
  ].map(([table, columns]) => ({
    underOthers: writer.prepare<[string, number], SealedValue>(
      `SELECT ${columns} FROM ${table} WHERE master_key_id <> ? LIMIT ?`,
    ),
    rewrite: writer.prepare<SealedValue>(
      `UPDATE ${table} SET master_key_id = @masterKeyId, wrap_nonce = @wrapNonce,
         wrapped_key = @wrappedKey WHERE key_id = @keyId`,
    ),
  }))
  return {
    masterKeyIds: async () => ids.all(),
    activateMasterKey: (id, nowMs) =>
      commits.run(() => {
        deactivate.run()
        activate.run(id, timestamp(nowMs))
        noteForAll({ action: 'master_key.activate', targetId: id, nowMs })
      }),
    retireMasterKey: (id, nowMs) =>
      commits.run(() => {
        if (retire.run(id).changes > 0) noteForAll({ action: 'master_key.retire', targetId: id, nowMs })
      }),
    sealedValues: async (serviceId) => ofService.all(serviceId),
    rewrapSome: (activeId, countMax, rewrap) =>
      commits.run(() => {
        let count = 0
        for (const { underOthers, rewrite } of tables) {
          const some = underOthers.all(activeId, countMax - count)
          for (const sealed of some) rewrite.run(rewrap(sealed))
          count += some.length
        }
        return count
      }),
  }
}
