/** Values, paths and diagnostics on the wire. */
import type { Diagnostic } from '../authoring/diagnostics.ts'
import { conform } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import { parseJson } from '../values/json.ts'
import { decodeMsgpack, encodeMsgpack } from '../values/msgpack.ts'
import { formatPath, type Path } from '../values/path.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { SEVERITY, type WireDiagnostic, type WirePath, type WirePathStep } from '../wire/messageParts.ts'

/** A value on the wire. */
export interface WireValue {
  readonly msgpack?: Uint8Array
  readonly json?: Uint8Array
}

/** Decodes a value of `type`; a missing one is null. */
export function decodeValue(type: Type, wire: WireValue | undefined): Value {
  if (wire?.msgpack?.length) return decodeMsgpack(type, wire.msgpack)
  if (wire?.json?.length) return conform(type, parseJson(Buffer.from(wire.json).toString()))
  return null
}

/** Decodes an object of `type`; null when there is none. */
export function decodeObject(type: Type, wire: WireValue | undefined): ObjectValue | null {
  const value = decodeValue(type, wire)
  return isObject(value) ? value : null
}

/** Decodes an object of `type`. Throws when there is none although the protocol requires one. */
export function requireObject(type: Type, wire: WireValue | undefined, what: string): ObjectValue {
  const value = decodeObject(type, wire)
  if (value === null) throw new Error(`Terraform sent no ${what}`)
  return value
}

/** Encodes a value in the canonical form of `type`, with null for missing attributes. */
export function encodeValue(type: Type, value: Value): WireValue {
  return { msgpack: encodeMsgpack(conform(type, value)) }
}

/** A path in the form of the protocol. */
export function encodePath(path: Path): WirePath {
  const steps = path.map((step): WirePathStep => {
    if (typeof step === 'string') return { attributeName: step }
    return typeof step === 'number' ? { elementKeyInt: step } : { elementKeyString: step.key }
  })
  return { steps }
}

/**
 * The part of `path` that Terraform can find in the configuration: an argument, and one element or attribute of it.
 *
 * Terraform follows longer paths through nested blocks only. In nested attributes it looks for the last name of the
 * path among the arguments of the resource, and then quotes an unrelated line: `name = …` of a service for the name in
 * an assertion. It finds the attribute of an argument when the name is passed as a key. Measured with Terraform 1.11.4;
 * diagnosticLines.e2e.test.ts has the table.
 */
function placeablePath(path: Path): Path {
  const [argument, inside] = path
  if (argument === undefined || inside === undefined) return path
  return [argument, typeof inside === 'string' ? { key: inside } : inside]
}

/** `detail` with the full path, if neither it nor the summary names it and Terraform receives a shorter one. */
function locatedDetail({ summary, detail, path = [] }: Diagnostic): string {
  const whole = formatPath(path)
  if (path.length < 2 || summary.includes(whole) || detail.includes(whole)) return detail
  return `${detail}\n\nAttribute: ${whole}`.trimStart()
}

/** Diagnostics in the form of the protocol. */
export function encodeDiagnostics(diagnostics: readonly Diagnostic[]): readonly WireDiagnostic[] {
  return diagnostics.map((diagnostic) => {
    const { severity, summary, path = [] } = diagnostic
    // An empty path would make Terraform name neither a line nor the resource.
    const attribute = path.length === 0 ? {} : { attribute: encodePath(placeablePath(path)) }
    return { severity: SEVERITY[severity], summary, detail: locatedDetail(diagnostic), ...attribute }
  })
}
