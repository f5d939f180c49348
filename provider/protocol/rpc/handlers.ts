/** Lookup of handlers, their contexts, and the validation of their answers. */

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
  violationsOf,
  refuseNullElements,
  refuseMissing,
  refuseReadOnly,
  attributeValidators,
} from '../schema/validateConfig.ts'
import { type Fault, readAnswer } from '../state/answer.ts'
import { containsUnknown } from '../values/equality.ts'
import { formatPath } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'
import type { Call, Reporter } from './call.ts'

/** The context of every call of a handler. */
export function callContext({ session, signal }: Call, reporter: Reporter): CallContext {
  return { signal, log: session.log, report: reporter.report }
}

/** The same with the client of `configure`. Throws a DiagnosticError when Terraform has not configured the provider. */
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

/** Reports `fault` of a handler of `typeName`: as a warning if it was corrected, otherwise as an error. */
export function faultDiagnostic(severity: 'error' | 'warning', typeName: string, fault: Fault): Diagnostic {
  const make = severity === 'error' ? errorAt : warningAt
  return make(
    fault.path,
    `Bug in the provider: ${typeName} broke a rule of Terraform`,
    `${formatPath(fault.path)} ${fault.message}. Please report it to the provider's developers.`,
  )
}

/** The origin of a handler's answer, and the severity of its faults. */
interface Answering {
  readonly reporter: Reporter
  readonly name: string
  readonly attributes: Attributes
  /** A warning when faults are corrected. */
  readonly severity: 'error' | 'warning'
}

/** The state in a handler's answer, without attributes of a wrong type, which are reported. */
export function answeredState(
  { reporter, name, attributes, severity }: Answering,
  state: object,
): ObjectValue {
  const read = readAnswer(attributes, state, 'partial')
  for (const fault of read.faults) reporter.report(faultDiagnostic(severity, name, fault))
  return read.state
}

/** The same for a read, which must not return unknown values. */
export function knownState(answering: Answering, given: object): ObjectValue {
  const state = answeredState(answering, given)
  for (const attribute of Object.keys(state).filter((name) => containsUnknown(state[name] ?? null))) {
    const fault = { path: [attribute], message: 'is unknown after a read' }
    answering.reporter.report(faultDiagnostic('error', answering.name, fault))
  }
  return state
}

/** The parts of a provider, resource, data source or list that validate a configuration. */
interface Checking {
  readonly schema: Schema
  validate?(context: ValidateContext<ObjectValue>): Awaitable<void>
}

/** For schemas without write-only attributes, whose RPC has no capabilities. */
const NO_CAPABILITIES: ClientCapabilities = { writeOnlyAttributesAllowed: false }

/** Reports the problems of `config`: of its attributes, then of the handler's rules. Needs no client. */
export async function checkConfig(
  checking: Checking,
  config: ObjectValue,
  context: CallContext,
  capabilities: ClientCapabilities = NO_CAPABILITIES,
): Promise<void> {
  const { attributes } = checking.schema
  const nulls = [refuseMissing, refuseNullElements].flatMap((rule) => violationsOf(attributes, config, rule))
  const others = [refuseReadOnly, attributeValidators].flatMap((rule) =>
    violationsOf(attributes, config, rule),
  )
  for (const diagnostic of [...nulls, ...others]) context.report(diagnostic)
  // The types of a handler exclude null elements and null required values.
  if (nulls.length === 0) await checking.validate?.({ ...context, config, capabilities })
}
