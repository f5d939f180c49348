/** Lookup of handlers, their contexts, and the validation of their results. */

import type { Awaitable, CallContext, ConfiguredContext, ValidateContext } from '../authoring/context.ts'
import { type Diagnostic, errorAt, failure, warningAt } from '../authoring/diagnostics.ts'
import type { Typed } from '../authoring/provider.ts'
import type { Attributes, Schema } from '../authoring/schema.ts'
import {
  type Rule,
  refuseMissing,
  refuseNullElements,
  refuseReadOnly,
  refuseWriteOnly,
  violationsOf,
} from '../schema/validateConfig.ts'
import { type Fault, overlay, readResult } from '../state/handlerResult.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { withoutUnknown } from '../values/conform.ts'
import { containsUnknown } from '../values/equality.ts'
import { formatPath } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'
import type { Call, Reporter } from './call.ts'

/** The context of a handler's call. */
export function callContext({ session, signal }: Call, reporter: Reporter): CallContext {
  return { signal, log: session.log, report: reporter.report }
}

/**
 * The context with the client that `configure` returned. Throws a DiagnosticError when Terraform has not configured the
 * provider.
 */
export function configuredContext(call: Call, reporter: Reporter): ConfiguredContext<unknown> {
  const { configured } = call.session
  if (configured !== undefined) return { ...callContext(call, reporter), client: configured.client }
  throw failure('The provider is not configured', 'Terraform must call ConfigureProvider first.')
}

/** The handlers of `typeName`. Throws a DiagnosticError when the provider has no such type. */
export function lookUp<Handlers>(
  types: ReadonlyMap<string, Typed<Handlers>>,
  typeName: string,
): Typed<Handlers> {
  const found = types.get(typeName)
  if (found !== undefined) return found
  throw failure(`The provider has no ${typeName}`, `It has ${[...types.keys()].join(', ')}.`)
}

/**
 * The diagnostic for `fault` in a result of a handler of `typeName`: a warning if it was corrected, otherwise an
 * error.
 */
export function faultDiagnostic(severity: 'error' | 'warning', typeName: string, fault: Fault): Diagnostic {
  const make = severity === 'error' ? errorAt : warningAt
  return make(
    fault.path,
    `Bug in the provider: ${typeName} broke a rule of Terraform`,
    `${formatPath(fault.path)} ${fault.message}. Please report it to the provider's developers.`,
  )
}

/** The origin of a handler's result, and the severity of its faults. */
interface ResultOrigin {
  readonly reporter: Reporter
  readonly name: string
  readonly attributes: Attributes
  /** A warning when faults are corrected. Default: an error. */
  readonly severity?: 'error' | 'warning'
}

/** The state in a handler's result. Attributes of a wrong type are reported and left out. */
export function returnedState(
  { reporter, name, attributes, severity = 'error' }: ResultOrigin,
  state: object,
): ObjectValue {
  const read = readResult(attributes, state, 'partial')
  for (const fault of read.faults) reporter.report(faultDiagnostic(severity, name, fault))
  return read.state
}

/** The state in the result of a read, which must not contain unknown values. */
export function knownState(origin: ResultOrigin, given: object): ObjectValue {
  const state = returnedState(origin, given)
  for (const attribute of Object.keys(state).filter((name) => containsUnknown(state[name] ?? null))) {
    const fault = { path: [attribute], message: 'is unknown after a read' }
    origin.reporter.report(faultDiagnostic('error', origin.name, fault))
  }
  return state
}

/** The object to save: the attributes of a handler's result, and those of `base` (default: null) that it leaves out. */
export function savedState(origin: ResultOrigin, given: object, base: ObjectValue = {}): ObjectValue {
  const { attributes } = origin
  const whole = overlay(attributes, returnedState(origin, given), base)
  return withoutWriteOnly(attributes, withoutUnknown(whole))
}

/** The parts of a provider, resource, data source, list or action that validate a configuration. */
export interface Checking {
  readonly schema: Schema
  validate?(context: ValidateContext<ObjectValue>): Awaitable<void>
}

/** Capabilities of the program that started the provider; requests about resources have them. */
export interface Capabilities {
  /** Not set before Terraform and OpenTofu 1.11. */
  readonly writeOnlyAttributesAllowed?: boolean
}

/**
 * Reports the problems of `config`: first those of its attributes, then those that the handler finds. Needs no client.
 */
export async function checkConfig(
  checking: Checking,
  config: ObjectValue,
  context: CallContext,
  { writeOnlyAttributesAllowed }: Capabilities = {},
): Promise<void> {
  const { attributes } = checking.schema
  const violations = (...rules: readonly Rule[]): readonly Diagnostic[] =>
    rules.flatMap((rule) => violationsOf(attributes, config, rule))
  const nulls = violations(refuseMissing, refuseNullElements)
  const unsupported = writeOnlyAttributesAllowed ? [] : violations(refuseWriteOnly)
  const others = violations(refuseReadOnly)
  for (const diagnostic of [...unsupported, ...nulls, ...others]) context.report(diagnostic)
  // A handler's types exclude null elements and null in required attributes, so it is not called for them.
  if (nulls.length === 0) await checking.validate?.({ ...context, config })
}
