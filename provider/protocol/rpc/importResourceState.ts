import { DiagnosticError, errorAt, hasErrors } from '../diagnostics.ts'
import { overlay, readAnswer } from '../state/answer.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { withoutUnknown } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import type { MessageOf } from '../wire/message.ts'
import type { importResourceState as messages } from '../wire/tfplugin6.ts'
import {
  type Call,
  callContext,
  clientOf,
  createReporter,
  encodeDiagnostics,
  encodeValue,
  faultDiagnostic,
  lookUp,
} from './call.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** A stub of an existing object: what the handler returned, and null for everything else. Read comes next. */
export async function importResourceState(request: Request, call: Call): Promise<Response> {
  const { typeName } = request
  const reporter = createReporter(call)
  const imported = await reporter.attempt(`Importing ${typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.resources, typeName)
    const { attributes } = handlers.schema
    if (handlers.import === undefined) {
      throw new DiagnosticError(errorAt(undefined, `${typeName} cannot be imported`, 'It has no import.'))
    }
    const answer = await handlers.import({
      ...callContext(call, reporter),
      client: clientOf(call),
      id: request.id,
    })
    const read = readAnswer(attributes, answer.state, 'partial')
    for (const fault of read.faults) reporter.report(faultDiagnostic('error', typeName, fault))
    const stub = withoutUnknown(overlay(attributes, read.state, {}))
    const state = isObject(stub) ? withoutWriteOnly(attributes, stub) : null
    return { typeName, state: encodeValue(type, state), private: answer.private ?? new Uint8Array(0) }
  })
  const failed = imported === undefined || hasErrors(reporter.diagnostics)
  return {
    importedResources: failed ? [] : [imported],
    diagnostics: encodeDiagnostics(reporter.diagnostics),
  }
}
