/** What every RPC needs besides its request, and what all of them do alike. */
import { type Diagnostic, DiagnosticError, errorAt, hasErrors, warningAt } from '../diagnostics.ts'
import type { Log } from '../plugin/log.ts'
import type { CallContext, ClientCapabilities, Provider, Typed } from '../provider.ts'
import type { Fault } from '../state/answer.ts'
import { conform } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import { parseJson } from '../values/json.ts'
import { decodeMsgpack, encodeMsgpack } from '../values/msgpack.ts'
import { formatPath, type Path } from '../values/path.ts'
import type { Type } from '../values/type.ts'
import type { ObjectValue, Value } from '../values/value.ts'
import { SEVERITY, type WireDiagnostic, type WirePath, type WirePathStep } from '../wire/tfplugin6.ts'

/** What the RPCs of one process share. */
export interface Session {
  readonly provider: Provider
  readonly log: Log
  /** What `configure` returned, once it did. */
  configured: { readonly client: unknown } | undefined
  /** Aborts every call that is under way, and those that come before the next ConfigureProvider. */
  stop(): void
}

/** One call under way. */
export interface Call {
  readonly session: Session
  readonly signal: AbortSignal
  /**
   * Rejects when an exception reaches the top of the process while the call is under way: its handler may then
   * never come to an end, and Terraform waits for ever for an answer.
   */
  readonly crash: Promise<never>
}

/** Collects diagnostics and turns exceptions into them, so that an RPC always has an answer. */
export interface Reporter {
  readonly diagnostics: Diagnostic[]
  report(diagnostic: Diagnostic): void
  /** Runs `work`; an exception becomes error diagnostics and the result `undefined`. So does a crash. */
  attempt<T>(what: string, work: () => T | Promise<T>): Promise<T | undefined>
  /** The same for work around an attempt, which sees to a crash itself and whose result still counts then. */
  around<T>(what: string, work: () => T | Promise<T>): Promise<T | undefined>
}

/** A reporter for one call. */
export function createReporter(call: Call): Reporter {
  const diagnostics: Diagnostic[] = []
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
  const around: Reporter['around'] = async (what, work) => {
    try {
      return await work()
    } catch (error) {
      for (const diagnostic of describeException(call, what, error)) report(diagnostic)
      return undefined
    }
  }
  const attempt: Reporter['attempt'] = (what, work) => around(what, () => Promise.race([work(), call.crash]))
  return { diagnostics, report, attempt, around }
}

function describeException({ session, signal }: Call, what: string, error: unknown): readonly Diagnostic[] {
  if (error instanceof DiagnosticError && hasErrors(error.diagnostics)) return error.diagnostics
  if (signal.aborted) return [errorAt(undefined, `${what} was stopped`, 'Terraform was interrupted.')]
  const message = error instanceof Error ? error.message : String(error)
  session.log.error(`${what} threw an exception`, {
    message,
    stack: error instanceof Error ? (error.stack ?? '') : '',
  })
  return [
    errorAt(
      undefined,
      `${what} failed unexpectedly`,
      `${message}\n\nThis is a bug in the provider ${session.provider.name}. ` +
        'TF_LOG_PROVIDER=error shows where it happened.',
    ),
  ]
}

/** What handlers get with every call. */
export function callContext({ session, signal }: Call, reporter: Reporter): CallContext {
  return { signal, log: session.log, report: reporter.report }
}

/** The client that `configure` made. Throws a DiagnosticError when Terraform has not configured the provider. */
export function clientOf({ session }: Call): unknown {
  if (session.configured !== undefined) return session.configured.client
  throw new DiagnosticError(
    errorAt(undefined, 'The provider is not configured', 'Terraform has to call ConfigureProvider first.'),
  )
}

/** The handlers of `typeName`. Throws a DiagnosticError when the provider has no such type. */
export function lookUp<Handlers>(
  types: ReadonlyMap<string, Typed<Handlers>>,
  typeName: string,
): Typed<Handlers> {
  const found = types.get(typeName)
  if (found !== undefined) return found
  throw new DiagnosticError(
    errorAt(undefined, `The provider has no ${typeName}`, `It has ${[...types.keys()].join(', ')}.`),
  )
}

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

/** Says that a handler of `typeName` made `fault`: as a warning where it was corrected, else as an error. */
export function faultDiagnostic(severity: 'error' | 'warning', typeName: string, fault: Fault): Diagnostic {
  const make = severity === 'error' ? errorAt : warningAt
  return make(
    fault.path,
    `Bug in the provider: ${typeName} broke a rule of Terraform`,
    `${formatPath(fault.path)} ${fault.message}. Please report it to the provider's developers.`,
  )
}
