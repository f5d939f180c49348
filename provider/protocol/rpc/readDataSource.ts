import { overlay } from '../state/answer.ts'
import type { MessageOf } from '../wire/message.ts'
import type { readDataSource as messages } from '../wire/tfplugin6.ts'
import { answerOf, type Call, createReporter } from './call.ts'
import { configuredContext, knownState, lookUp } from './handlers.ts'
import { encodeValue, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Reads a data source. The configuration is completely known, and its values keep their spelling. */
export async function readDataSource(request: Request, call: Call): Promise<Response> {
  const { typeName } = request
  const reporter = createReporter(call)
  const answered = await reporter.attempt(`Reading data.${typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.dataSources, typeName)
    const { attributes } = handlers.schema
    const config = requireObject(type, request.config, 'configuration')
    const answer = await handlers.read({ ...configuredContext(call, reporter), config })
    const answering = { reporter, name: `data.${typeName}`, attributes, severity: 'error' } as const
    const state = knownState(answering, answer.state)
    return { state: encodeValue(type, overlay(attributes, state, config)) }
  })
  return answerOf(reporter, answered, {})
}
