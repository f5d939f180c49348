import type { MessageOf } from '../wire/message.ts'
import type { planAction as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter } from './call.ts'
import { lookUp } from './handlers.ts'
import { encodeDiagnostics, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** Plans an action. Actions change no state, so nothing is planned; the configuration was already validated. */
export async function planAction(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  await reporter.attempt(`Planning action.${request.actionType}`, () => {
    const { type } = lookUp(call.session.provider.actions, request.actionType)
    requireObject(type, request.config, 'configuration')
  })
  return { diagnostics: encodeDiagnostics(reporter.diagnostics) }
}
