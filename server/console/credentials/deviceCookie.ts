import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MasterKey } from '../../domain/seal.ts'

/** Lifetime of the cookie (seconds): a year. */
export const DEVICE_MAX_AGE_S = 365 * 24 * 60 * 60
const NONCE_BYTES = 16
const KEY_BYTES = 32
const FORM = /^([0-9a-f-]{36})\.([\w-]{22})\.([\w-]{43})$/

/** A cookie value that proves a sign-in of this browser as the person. */
export function newDevice(
  personId: string,
  masterKey: MasterKey,
  randomBytes: (size: number) => Buffer,
): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  return `${personId}.${nonce}.${macOf(personId, nonce, masterKey).toString('base64url')}`
}

/** The name of the device, if `value` was created for the person with one of the keys; else `undefined`. Pure. */
export function deviceOf(
  value: string | undefined,
  personId: string,
  masterKeys: readonly MasterKey[],
): string | undefined {
  const [, owner, nonce, mac] = FORM.exec(value ?? '') ?? []
  if (owner !== personId || nonce === undefined || mac === undefined) return undefined
  const given = Buffer.from(mac, 'base64url')
  const isOurs = masterKeys.some((key) => timingSafeEqual(given, macOf(personId, nonce, key)))
  return isOurs ? nonce : undefined
}

function macOf(personId: string, nonce: string, { bytes }: MasterKey): Buffer {
  const key = Buffer.from(hkdfSync('sha256', bytes, '', 'pharos console device', KEY_BYTES))
  return createHmac('sha256', key).update(`${personId}.${nonce}`).digest()
}
