/**
 * The sealed values of a service at the time when its secrets were last sent. The key id of a value changes with every
 * write of the value and with nothing else (Gap G22), so a different one reveals another writer.
 *
 * The ids are in private state, with the fingerprint of the secrets, because a refresh overwrites the state itself.
 */
import type { SensitiveOutput, ServiceResponse } from '../../../api/contract/service.ts'

/** Version of private state without a fingerprint, such as after an import. */
const WITHOUT_FINGERPRINT = 3

interface PrivateData {
  readonly v: number
  readonly key_ids?: readonly string[]
}

/** `privateData`, the private bytes of a service, with the key ids of the sealed values in `response` added. Pure. */
export function withKeyIds(privateData: Uint8Array, response: ServiceResponse): Uint8Array {
  const key_ids = response.endpoints.flatMap(({ call }) => {
    const { body, headers } = call.Http
    return [...Object.values(headers ?? {}), ...(body == null ? [] : [body])].flatMap(keyIdOf)
  })
  if (privateData.length === 0 && key_ids.length === 0) return privateData
  const before = parse(privateData) ?? { v: WITHOUT_FINGERPRINT }
  return Buffer.from(JSON.stringify({ ...before, key_ids }))
}

/** Whether `privateData` has key ids; earlier versions of the provider did not write them. Pure. */
export function hasKeyIds(privateData: Uint8Array): boolean {
  return parse(privateData)?.key_ids !== undefined
}

/**
 * The places in `sealed` (key ids of a state by place) whose key ids are not in `privateData`; empty without recorded key ids.
 * Pure.
 */
export function overwrittenPlaces(
  privateData: Uint8Array,
  sealed: ReadonlyMap<string, string | null> | null,
): readonly string[] {
  const ours = parse(privateData)?.key_ids
  if (ours === undefined) return []
  return [...(sealed ?? [])]
    .filter(([, keyId]) => keyId !== null && !ours.includes(keyId))
    .map(([place]) => place)
}

function keyIdOf(output: SensitiveOutput): readonly string[] {
  return 'Sealed' in output ? [output.Sealed.key_id] : []
}

function parse(privateData: Uint8Array): PrivateData | undefined {
  if (privateData.length === 0) return undefined
  // True because only this file and Fingerprints write these bytes.
  return JSON.parse(Buffer.from(privateData).toString()) as PrivateData
}
