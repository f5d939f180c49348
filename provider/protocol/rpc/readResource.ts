import type { AnyViews } from '../authoring/context.ts'
import type { AnyResource, HandlerResult, Typed } from '../authoring/provider.ts'
import { overlay } from '../state/handlerResult.ts'
import { keepSpelling } from '../state/keepSpelling.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import type { ObjectValue } from '../values/value.ts'
import type { MessageOf } from '../wire/message.ts'
import type { readResource as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter, type Reporter, responseOf } from './call.ts'
import { configuredContext, knownState, lookUp } from './handlers.ts'
import { identityOf } from './identity.ts'
import { encodeValue, requireObject } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

function refreshed(
  { name, handlers }: Typed<AnyResource<unknown>>,
  prior: ObjectValue,
  { result, reporter }: { readonly result: HandlerResult<AnyViews>; readonly reporter: Reporter },
): ObjectValue {
  const { attributes } = handlers.schema
  const state = knownState({ reporter, name, attributes, severity: 'error' }, result.state)
  return withoutWriteOnly(attributes, keepSpelling(attributes, overlay(attributes, state, prior), prior))
}

/**
 * The current object. Values that equal the stored ones keep their spelling. Private bytes that the handler did not
 * replace are returned, because omitted ones would be lost. After an error the stored state is unchanged.
 */
export async function readResource(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  const outcome = await reporter.attempt(`Reading ${request.typeName}`, async () => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const prior = requireObject(resource.type, request.currentState, 'current state')
    const result = await resource.handlers.read({
      ...configuredContext(call, reporter),
      prior,
      private: request.private,
    })
    if (result === null) return { newState: encodeValue(resource.type, null), private: new Uint8Array(0) }
    const state = refreshed(resource, prior, { result, reporter })
    return {
      newState: encodeValue(resource.type, state),
      private: result.private ?? request.private,
      newIdentity: identityOf(resource, state),
    }
  })
  return responseOf(reporter, outcome, { newState: request.currentState, private: request.private })
}
