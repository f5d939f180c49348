import { overlay } from '../state/handlerResult.ts'
import { type Rpc, respond } from './call.ts'
import { configuredContext, knownState, lookUp } from './handlers.ts'
import { encodeValue, requireObject } from './wireValue.ts'

/** Reads a data source. The configuration is completely known, and its values keep their spelling. */
export const readDataSource: Rpc<'ReadDataSource'> = ({ typeName, config: given }, call) =>
  respond({ call, what: `Reading data.${typeName}` }, async (reporter) => {
    const { handlers, type } = lookUp(call.session.provider.dataSources, typeName)
    const { attributes } = handlers.schema
    const config = requireObject(type, given, 'configuration')
    const result = await handlers.read({ ...configuredContext(call, reporter), config })
    const state = knownState({ reporter, name: `data.${typeName}`, attributes }, result.state)
    return { state: encodeValue(type, overlay(attributes, state, config)) }
  })
