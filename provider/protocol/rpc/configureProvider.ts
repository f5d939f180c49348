import { hasErrors } from '../authoring/diagnostics.ts'
import type { MessageOf } from '../wire/message.ts'
import type { configureProvider as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter } from './call.ts'
import { callContext } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/**
 * Creates the client of handlers. After an error the provider is unconfigured, even if it was configured before,
 * because a client of an older provider block must not be used.
 */
export async function configureProvider(request: Request, call: Call): Promise<Response> {
  const { session } = call
  const reporter = createReporter(call)
  session.configured = undefined
  const configured = await reporter.attempt('Configuring the provider', async () => ({
    client: await session.provider.configure({
      ...callContext(call, reporter),
      config: requireObject(session.provider.configType, request.config, 'provider configuration'),
      terraformVersion: request.terraformVersion,
      interrupted: call.stopped,
    }),
  }))
  if (!hasErrors(reporter.diagnostics)) session.configured = configured
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
