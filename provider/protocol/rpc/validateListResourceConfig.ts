import { validateAttributes } from '../schema/validateConfig.ts'
import type { MessageOf } from '../wire/message.ts'
import type { validateListResourceConfig as messages } from '../wire/tfplugin6.ts'
import { type Call, callContext, createReporter, encodeDiagnostics, lookUp, requireObject } from './call.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Checks the filter of a list. Runs without a client. */
export async function validateListResourceConfig(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  await reporter.attempt(`Validating list.${request.typeName}`, async () => {
    const { handlers, type } = lookUp(call.session.provider.lists, request.typeName)
    const config = requireObject(type, request.config, 'configuration')
    validateAttributes(handlers.schema.attributes, config).forEach(reporter.report)
    await handlers.validate?.({
      ...callContext(call, reporter),
      config,
      // This RPC does not carry capabilities, and filters have no write-only attributes.
      capabilities: { writeOnlyAttributesAllowed: false },
    })
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
