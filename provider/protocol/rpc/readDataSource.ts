import { overlay } from '../state/handlerResult.ts'
import type { MessageOf } from '../wire/message.ts'
import type { readDataSource as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter, responseOf } from './call.ts'
import { configuredContext, knownState, lookUp } from './handlers.ts'
import { encodeValue, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Reads a data source. The configuration is completely known, and its values keep their spelling. */
export async function readDataSource(request: Request, call: Call): Promise<Response> {
  const { typeName } = request
  const reporter = createReporter(call)
  const outcome = await reporter.attempt(`Reading data.${typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.dataSources, typeName)
    const { attributes } = handlers.schema
    const config = requireObject(type, request.config, 'configuration')
    const result = await handlers.read({ ...configuredContext(call, reporter), config })
    const origin = { reporter, name: `data.${typeName}`, attributes, severity: 'error' } as const
    const state = knownState(origin, result.state)
    return { state: encodeValue(type, overlay(attributes, state, config)) }
  })
  return responseOf(reporter, outcome, {})
}
