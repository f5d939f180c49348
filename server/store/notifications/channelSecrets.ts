import { ApiError } from '../../../api/contract/apiError.ts'
import type { SecretRole } from '../../domain/notifications/channel.ts'
import type { SealedValue } from '../../domain/seal.ts'
import type { NotificationStore, StoredChannel } from '../notificationStore.ts'
import { row, run, type Script, type Scripts } from '../scripts/script.ts'
import { recordChannelAction } from './channelAction.ts'
import type { ChangeChannel } from './channelRows.ts'

/** Columns of a channel's secret as a SealedValue, without a service. */
export const SEALED_SECRET_COLUMNS = `key_id AS "keyId", org_id AS "orgId", '' AS "serviceId", '' AS "endpointId",
  slot, master_key_id AS "masterKeyId", wrap_nonce AS "wrapNonce", wrapped_key AS "wrappedKey", nonce, ciphertext`

/** Signing secrets of channels. */
export function signingSecrets({ assertGrowth }: Scripts, change: ChangeChannel) {
  return {
    rotateSecret: (ref, make, { nowMs, oldUntilMs }) =>
      change(ref, function* (channel) {
        const { id } = channel
        assertSigns(channel)
        assertGrowth()
        yield* run("DELETE FROM sealed_secrets WHERE channel_id = $1 AND role = 'old_secret'", [id])
        const age = "UPDATE sealed_secrets SET role = 'old_secret' WHERE channel_id = $1 AND role = 'secret'"
        yield* run(age, [id])
        yield* putSecret(id, 'secret', make(channel, yield* activeKey()))
        yield* run('UPDATE channels SET old_secret_until_ms = $2 WHERE id = $1', [id, oldUntilMs])
        yield* recordChannelAction('rotate', { channel, nowMs, by: ref.by })
      }),
    showSecret: (ref, nowMs) =>
      change(ref, function* (channel) {
        assertSigns(channel)
        const sealed = yield* row<SealedValue>(
          `SELECT ${SEALED_SECRET_COLUMNS} FROM sealed_secrets WHERE channel_id = $1 AND role = 'secret'`,
          [channel.id],
        )
        if (sealed === undefined) throw new Error(`the channel ${channel.id} has no signing secret`)
        yield* recordChannelAction('show_secret', { channel, nowMs, by: ref.by })
        return sealed
      }),
  } satisfies Partial<NotificationStore>
}

/** Throws `invalid` for a chat: its URL is its secret. */
function assertSigns({ kind }: StoredChannel): void {
  if (kind !== 'slack') return
  throw new ApiError('invalid', 'a channel of kind slack has no signing secret: its URL is the secret')
}

/** The id of the active master key. Throws while there is none. */
export function* activeKey(): Script<string> {
  const key = yield* row<{ id: string }>('SELECT id FROM master_keys WHERE is_active', [])
  if (key === undefined) throw new Error('no master key is active')
  return key.id
}

/** Stores a secret of a channel, replacing that of the same role. */
export function* putSecret(channelId: string, role: SecretRole, sealed: SealedValue): Script<void> {
  const { keyId, orgId, slot, masterKeyId, wrapNonce, wrappedKey, nonce, ciphertext } = sealed
  yield* run('DELETE FROM sealed_secrets WHERE channel_id = $1 AND role = $2', [channelId, role])
  yield* run(
    `INSERT INTO sealed_secrets (key_id, org_id, channel_id, role, slot, master_key_id, wrap_nonce, wrapped_key, nonce,
       ciphertext)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [keyId, orgId, channelId, role, slot, masterKeyId, wrapNonce, wrappedKey, nonce, ciphertext],
  )
}
