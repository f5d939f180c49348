import { overlay } from '../state/handlerResult.ts'
import { keepSpelling } from '../state/keepSpelling.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { type Rpc, respond } from './call.ts'
import { configuredContext, knownState, lookUp } from './handlers.ts'
import { identityOf } from './identity.ts'
import { encodeValue, requireObject } from './wireValue.ts'

/**
 * The current object. Values that equal the stored ones keep their spelling. Private bytes that the handler did not
 * replace are returned, because omitted ones would be lost. After an error the stored state is unchanged.
 */
export const readResource: Rpc<'ReadResource'> = (request, call) => {
  const { typeName, currentState, private: stored } = request
  const otherwise = { newState: currentState, private: stored }
  return respond({ call, what: `Reading ${typeName}`, otherwise }, async (reporter) => {
    const resource = lookUp(call.session.provider.resources, typeName)
    const { handlers, type } = resource
    const { attributes } = handlers.schema
    const prior = requireObject(type, currentState, 'current state')
    const result = await handlers.read({ ...configuredContext(call, reporter), prior, private: stored })
    if (result === null) return { newState: encodeValue(type, null), private: new Uint8Array(0) }
    const current = knownState({ reporter, name: typeName, attributes }, result.state)
    const spelled = keepSpelling(attributes, overlay(attributes, current, prior), prior)
    const state = withoutWriteOnly(attributes, spelled)
    return {
      newState: encodeValue(type, state),
      private: result.private ?? stored,
      newIdentity: identityOf(resource, state),
    }
  })
}
