/** How RPCs find handlers, what those are given, and what becomes of what they answer. */

import type {
  Awaitable,
  CallContext,
  ClientCapabilities,
  ConfiguredContext,
  ValidateContext,
} from '../authoring/context.ts'
import { type Diagnostic, DiagnosticError, errorAt, warningAt } from '../authoring/diagnostics.ts'
import type { Typed } from '../authoring/provider.ts'
import type { Attributes, Schema } from '../authoring/schema.ts'
import {
  brokenIn,
  noNullElements,
  nothingMissing,
  nothingReadOnly,
  ownValidators,
} from '../schema/validateConfig.ts'
import { type Fault, readAnswer } from '../state/answer.ts'
import { containsUnknown } from '../values/equality.ts'
import { formatPath } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'
import type { Call, Reporter } from './call.ts'

/** What handlers get with every call. */
export function callContext({ session, signal }: Call, reporter: Reporter): CallContext {
  return { signal, log: session.log, report: reporter.report }
}

/**
 * The same with the client that `configure` made. Throws a DiagnosticError when Terraform has not configured the
 * provider.
 */
export function configuredContext(call: Call, reporter: Reporter): ConfiguredContext<unknown> {
  const { configured } = call.session
  if (configured !== undefined) return { ...callContext(call, reporter), client: configured.client }
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

/** Says that a handler of `typeName` made `fault`: as a warning where it was corrected, else as an error. */
export function faultDiagnostic(severity: 'error' | 'warning', typeName: string, fault: Fault): Diagnostic {
  const make = severity === 'error' ? errorAt : warningAt
  return make(
    fault.path,
    `Bug in the provider: ${typeName} broke a rule of Terraform`,
    `${formatPath(fault.path)} ${fault.message}. Please report it to the provider's developers.`,
  )
}

/** Where a handler's answer comes from, and how bad it is when it breaks a rule. */
interface Answering {
  readonly reporter: Reporter
  readonly name: string
  readonly attributes: Attributes
  /** A warning where what is wrong is corrected. */
  readonly severity: 'error' | 'warning'
}

/** The state that a handler answered, as far as its attributes are of their type; the others are reported. */
export function answeredState(
  { reporter, name, attributes, severity }: Answering,
  state: object,
): ObjectValue {
  const read = readAnswer(attributes, state, 'partial')
  for (const fault of read.faults) reporter.report(faultDiagnostic(severity, name, fault))
  return read.state
}

/** The same after a read, which may leave nothing unknown. */
export function knownState(answering: Answering, given: object): ObjectValue {
  const state = answeredState(answering, given)
  for (const attribute of Object.keys(state).filter((name) => containsUnknown(state[name] ?? null))) {
    const fault = { path: [attribute], message: 'is unknown after a read' }
    answering.reporter.report(faultDiagnostic('error', answering.name, fault))
  }
  return state
}

/** What of a provider, a resource, a data source or a list is asked about a configuration. */
interface Checking {
  readonly schema: Schema
  validate?(context: ValidateContext<ObjectValue>): Awaitable<void>
}

/** For what has no write-only attributes, and whose RPC carries no capabilities. */
export const NO_CAPABILITIES: ClientCapabilities = { writeOnlyAttributesAllowed: false }

/** Reports what is wrong with `config`: by its attributes, then by the handler's own rules. Needs no client. */
export async function checkConfig(
  checking: Checking,
  config: ObjectValue,
  { context, capabilities }: { readonly context: CallContext; readonly capabilities: ClientCapabilities },
): Promise<void> {
  const { attributes } = checking.schema
  const nulls = [nothingMissing, noNullElements].flatMap((rule) => brokenIn(attributes, config, rule))
  const others = [nothingReadOnly, ownValidators].flatMap((rule) => brokenIn(attributes, config, rule))
  for (const diagnostic of [...nulls, ...others]) context.report(diagnostic)
  // The types of a handler say that no element and nothing required is null.
  if (nulls.length === 0) await checking.validate?.({ ...context, config, capabilities })
}
