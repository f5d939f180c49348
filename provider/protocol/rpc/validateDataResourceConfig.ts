import type { MessageOf } from '../wire/message.ts'
import type { validateDataResourceConfig as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter } from './call.ts'
import { callContext, checkConfig, lookUp } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Checks a data source's configuration. Runs without a client. */
export async function validateDataResourceConfig(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  await reporter.attempt(`Validating data.${request.typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.dataSources, request.typeName)
    const config = requireObject(type, request.config, 'configuration')
    await checkConfig(handlers, config, callContext(call, reporter))
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
