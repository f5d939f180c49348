/**
 * Which sealed values a service had when its secrets were sent last: the key id of a value changes with every write of
 * it and with nothing else (Gap G22), so that another one says that something else wrote the value.
 *
 * The ids are kept beside the state, with the fingerprint of the secrets: the state itself is refreshed.
 */
import type { SensitiveOutput, ServiceResponse } from '../../../api/contract/service.ts'

/** Version of what is kept where there is no fingerprint yet, such as after an import. */
const WITHOUT_FINGERPRINT = 3

interface Kept {
  readonly v: number
  readonly key_ids?: readonly string[]
}

/** `kept`, private bytes of a service, with the key ids of the sealed values that `response` has. Pure. */
export function withKeyIds(kept: Uint8Array, response: ServiceResponse): Uint8Array {
  const key_ids = response.endpoints.flatMap(({ call }) => {
    const { body, headers } = call.Http
    return [...Object.values(headers ?? {}), ...(body == null ? [] : [body])].flatMap(keyIdOf)
  })
  if (kept.length === 0 && key_ids.length === 0) return kept
  const before = parse(kept) ?? { v: WITHOUT_FINGERPRINT }
  return Buffer.from(JSON.stringify({ ...before, key_ids }))
}

/** Whether `kept` has key ids: not in what versions of the provider left that did not know them. Pure. */
export function hasKeyIds(kept: Uint8Array): boolean {
  return parse(kept)?.key_ids !== undefined
}

/**
 * Places of `sealed`, the key ids of a state by place, whose value is not one of those that `kept` has; none where it has
 * no key ids. Pure.
 */
export function overwrittenPlaces(
  kept: Uint8Array,
  sealed: ReadonlyMap<string, string | null> | null,
): readonly string[] {
  const ours = parse(kept)?.key_ids
  if (ours === undefined) return []
  return [...(sealed ?? [])]
    .filter(([, keyId]) => keyId !== null && !ours.includes(keyId))
    .map(([place]) => place)
}

function keyIdOf(output: SensitiveOutput): readonly string[] {
  return 'Sealed' in output ? [output.Sealed.key_id] : []
}

function parse(kept: Uint8Array): Kept | undefined {
  if (kept.length === 0) return undefined
  // True because these bytes come back from where this file and a Fingerprints put them.
  return JSON.parse(Buffer.from(kept).toString()) as Kept
}
