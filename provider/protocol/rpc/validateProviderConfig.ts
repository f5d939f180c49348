import type { MessageOf } from '../wire/message.ts'
import type { validateProviderConfig as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter } from './call.ts'
import { callContext, checkConfig } from './handlers.ts'
import { decodeObject, encodeDiagnostics } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Checks the provider block. Runs without a client, in more than one process per command. */
export async function validateProviderConfig(request: Request, call: Call): Promise<Response> {
  const { provider } = call.session
  const reporter = createReporter(call)
  await reporter.attempt('Validating the provider configuration', async () => {
    const config = decodeObject(provider.configType, request.config)
    if (config === null) return
    await checkConfig(provider, config, callContext(call, reporter))
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
