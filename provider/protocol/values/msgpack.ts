/** Values as MessagePack, Terraform's encoding. */
import { decode, ExtData, ExtensionCodec, encode } from '@msgpack/msgpack'
import { conform } from './conform.ts'
import { isArray, isMap, isObject } from './equality.ts'
import { Decimal } from './number.ts'
import type { Type } from './type.ts'
import { UNKNOWN, type Value } from './value.ts'

/** Unknown, and unknown with a refinement such as "not null" or "starts with". */
const UNKNOWN_EXTENSION = 0
const REFINED_UNKNOWN_EXTENSION = 12

const codec = new ExtensionCodec()
for (const type of [UNKNOWN_EXTENSION, REFINED_UNKNOWN_EXTENSION]) {
  // Refinements are not needed here, and an unrefined unknown may always be sent.
  codec.register({ type, encode: () => null, decode: () => UNKNOWN })
}

const DECODE_OPTIONS = { extensionCodec: codec, useBigInt64: true }
const ENCODE_OPTIONS = { extensionCodec: codec, useBigInt64: true }

/** `D4 00 00`: the canonical bytes of an unknown value. */
const UNKNOWN_DATA = new ExtData(UNKNOWN_EXTENSION, new Uint8Array(1))

/**
 * Decodes a value of `type`. Throws ConformError when the bytes contain a value of another type.
 *
 * MessagePack gives 64-bit integers as bigint, and decimals without a binary form as text; `conform` makes them
 * canonical.
 */
export function decodeMsgpack(type: Type, bytes: Uint8Array): Value {
  return conform(type, decode(bytes, DECODE_OPTIONS))
}

/** The bytes of a value that is already in the form of its type. */
export function encodeMsgpack(value: Value): Uint8Array {
  return encode(packable(value), ENCODE_OPTIONS)
}

const INT64_MIN = -(2n ** 63n)
const UINT64_MAX = 2n ** 64n - 1n

function packable(value: Value): unknown {
  if (value === UNKNOWN) return UNKNOWN_DATA
  if (value instanceof Decimal) return value.text
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= UINT64_MAX ? value : String(value)
  if (isArray(value)) return value.map(packable)
  if (isMap(value)) return Object.fromEntries([...value].map(([key, item]) => [key, packable(item)]))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, packable(item)]))
}
