/** Values, paths and diagnostics as they travel. */
import type { Diagnostic } from '../diagnostics.ts'
import type { ClientCapabilities } from '../provider.ts'
import { conform } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import { parseJson } from '../values/json.ts'
import { decodeMsgpack, encodeMsgpack } from '../values/msgpack.ts'
import type { Path } from '../values/path.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { SEVERITY, type WireDiagnostic, type WirePath, type WirePathStep } from '../wire/messageParts.ts'

/** A value on the wire. */
export interface WireValue {
  readonly msgpack?: Uint8Array
  readonly json?: Uint8Array
}

/** Reads a value of `type`; one that is not on the wire is null. */
export function decodeValue(type: Type, wire: WireValue | undefined): Value {
  if (wire?.msgpack?.length) return decodeMsgpack(type, wire.msgpack)
  if (wire?.json?.length) return conform(type, parseJson(Buffer.from(wire.json).toString()))
  return null
}

/** Reads an object of `type`; null when there is none. */
export function decodeObject(type: Type, wire: WireValue | undefined): ObjectValue | null {
  const value = decodeValue(type, wire)
  return isObject(value) ? value : null
}

/** Reads an object of `type`. Throws when there is none where the protocol says there is one. */
export function requireObject(type: Type, wire: WireValue | undefined, what: string): ObjectValue {
  const value = decodeObject(type, wire)
  if (value === null) throw new Error(`Terraform sent no ${what}`)
  return value
}

/** A value ready to be sent. `type` gives it its one form and fills in what it lacks with null. */
export function encodeValue(type: Type, value: Value): WireValue {
  return { msgpack: encodeMsgpack(conform(type, value)) }
}

/** What the client said that it can do. */
export function capabilitiesOf(
  wire: { readonly writeOnlyAttributesAllowed?: boolean } | undefined,
): ClientCapabilities {
  return { writeOnlyAttributesAllowed: wire?.writeOnlyAttributesAllowed ?? false }
}

/** A path as Terraform reads it. */
export function encodePath(path: Path): WirePath {
  const steps = path.map((step): WirePathStep => {
    if (typeof step === 'string') return { attributeName: step }
    return typeof step === 'number' ? { elementKeyInt: step } : { elementKeyString: step.key }
  })
  return { steps }
}

/** Diagnostics as Terraform reads them. */
export function encodeDiagnostics(diagnostics: readonly Diagnostic[]): readonly WireDiagnostic[] {
  return diagnostics.map(({ severity, summary, detail, path }) => ({
    severity: SEVERITY[severity],
    summary,
    detail,
    ...(path === undefined ? {} : { attribute: encodePath(path) }),
  }))
}
