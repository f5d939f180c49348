import { hasErrors } from '../authoring/diagnostics.ts'
import { createReporter, type Rpc } from './call.ts'
import { callContext } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

/**
 * Creates the client of handlers. After an error the provider is unconfigured, even if it was configured before,
 * because a client of an older provider block must not be used.
 */
export const configureProvider: Rpc<'ConfigureProvider'> = async (request, call) => {
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
