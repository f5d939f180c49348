import { hasErrors } from '../diagnostics.ts'
import { overlay, readAnswer } from '../state/answer.ts'
import { containsUnknown } from '../values/equality.ts'
import type { MessageOf } from '../wire/message.ts'
import type { readDataSource as messages } from '../wire/tfplugin6.ts'
import {
  type Call,
  callContext,
  clientOf,
  createReporter,
  encodeDiagnostics,
  encodeValue,
  faultDiagnostic,
  lookUp,
  requireObject,
} from './call.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** What a data source finds. The configuration is wholly known; its values stay as they were written. */
export async function readDataSource(request: Request, call: Call): Promise<Response> {
  const { typeName } = request
  const reporter = createReporter(call)
  const state = await reporter.attempt(`Reading data.${typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.dataSources, typeName)
    const { attributes } = handlers.schema
    const config = requireObject(type, request.config, 'configuration')
    const answer = await handlers.read({ ...callContext(call, reporter), client: clientOf(call), config })
    const read = readAnswer(attributes, answer.state, 'partial')
    const unknown = Object.keys(read.state)
      .filter((name) => containsUnknown(read.state[name] ?? null))
      .map((name) => ({ path: [name], message: 'is unknown after a read' }))
    for (const fault of [...read.faults, ...unknown]) {
      reporter.report(faultDiagnostic('error', `data.${typeName}`, fault))
    }
    return encodeValue(type, overlay(attributes, read.state, config))
  })
  const failed = state === undefined || hasErrors(reporter.diagnostics)
  return { ...(failed ? {} : { state }), diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
