import { hasErrors } from '../diagnostics.ts'
import type { Answer, AnyResource, AnyViews, Typed } from '../provider.ts'
import { overlay, readAnswer } from '../state/answer.ts'
import { keepSpelling } from '../state/keepSpelling.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { containsUnknown } from '../values/equality.ts'
import type { ObjectValue } from '../values/value.ts'
import type { MessageOf } from '../wire/message.ts'
import type { readResource as messages } from '../wire/tfplugin6.ts'
import {
  type Call,
  callContext,
  clientOf,
  createReporter,
  encodeDiagnostics,
  encodeValue,
  faultDiagnostic,
  lookUp,
  type Reporter,
  requireObject,
} from './call.ts'
import { identityOf } from './identity.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

function refreshed(
  { name, handlers }: Typed<AnyResource<unknown>>,
  prior: ObjectValue,
  { answer, reporter }: { readonly answer: Answer<AnyViews>; readonly reporter: Reporter },
): ObjectValue {
  const { attributes } = handlers.schema
  const { state, faults } = readAnswer(attributes, answer.state, 'partial')
  const unknown = Object.keys(state).filter((attribute) => containsUnknown(state[attribute] ?? null))
  for (const fault of faults) reporter.report(faultDiagnostic('error', name, fault))
  for (const attribute of unknown) {
    reporter.report(faultDiagnostic('error', name, { path: [attribute], message: 'is unknown after a read' }))
  }
  return withoutWriteOnly(attributes, keepSpelling(attributes, overlay(attributes, state, prior), prior))
}

/**
 * The object as it is now. Values that mean the same as the stored ones keep their spelling, and private bytes
 * are sent back unless the handler replaced them: what is not sent back is lost. On an error the stored state
 * stays as it is.
 */
export async function readResource(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  const answered = await reporter.attempt(`Reading ${request.typeName}`, async () => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const prior = requireObject(resource.type, request.currentState, 'current state')
    const answer = await resource.handlers.read({
      ...callContext(call, reporter),
      client: clientOf(call),
      prior,
      private: request.private,
    })
    if (answer === null) return { newState: encodeValue(resource.type, null), private: new Uint8Array(0) }
    const state = refreshed(resource, prior, { answer, reporter })
    return {
      newState: encodeValue(resource.type, state),
      private: answer.private ?? request.private,
      newIdentity: identityOf(resource, state),
    }
  })
  const failed = answered === undefined || hasErrors(reporter.diagnostics)
  return {
    ...(failed ? { newState: request.currentState, private: request.private } : answered),
    diagnostics: encodeDiagnostics(reporter.diagnostics),
  }
}
