import { validateAttributes } from '../schema/validateConfig.ts'
import type { MessageOf } from '../wire/message.ts'
import type { validateProviderConfig as messages } from '../wire/tfplugin6.ts'
import { type Call, callContext, createReporter, decodeObject, encodeDiagnostics } from './call.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Checks the provider block. Runs without a client, in more than one process per command. */
export async function validateProviderConfig(request: Request, call: Call): Promise<Response> {
  const { provider } = call.session
  const reporter = createReporter(call)
  await reporter.attempt('Validating the provider configuration', async () => {
    const config = decodeObject(provider.configType, request.config)
    if (config === null) return
    validateAttributes(provider.schema.attributes, config).forEach(reporter.report)
    await provider.validate?.({
      ...callContext(call, reporter),
      config,
      // This RPC does not carry capabilities, and a provider's configuration has no write-only attributes.
      capabilities: { writeOnlyAttributesAllowed: false },
    })
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
