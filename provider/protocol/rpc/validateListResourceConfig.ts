import type { MessageOf } from '../wire/message.ts'
import type { validateListResourceConfig as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter } from './call.ts'
import { callContext, checkConfig, lookUp } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Checks the filter of a list. Runs without a client. */
export async function validateListResourceConfig(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  await reporter.attempt(`Validating list.${request.typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.lists, request.typeName)
    const config = requireObject(type, request.config, 'configuration')
    await checkConfig(handlers, config, callContext(call, reporter))
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
