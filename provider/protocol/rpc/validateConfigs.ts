/** The RPCs that validate configurations. They run without a client, and again when more values are known. */
import type { Typed } from '../authoring/provider.ts'
import { type Call, type Rpc, respond } from './call.ts'
import { type Capabilities, type Checking, callContext, checkConfig, lookUp } from './handlers.ts'
import { decodeObject, requireObject, type WireValue } from './wireValue.ts'

/** Validates the configuration in a request; `kind` precedes its type in messages. */
function validated(
  call: Call,
  { kind, types }: { readonly kind: string; readonly types: ReadonlyMap<string, Typed<Checking>> },
  request: { readonly typeName: string; readonly config: WireValue | undefined },
  capabilities: Capabilities = {},
): Promise<object> {
  return respond({ call, what: `Validating ${kind}${request.typeName}` }, async (reporter) => {
    const { handlers, type } = lookUp(types, request.typeName)
    const config = requireObject(type, request.config, 'configuration')
    await checkConfig(handlers, config, callContext(call, reporter), capabilities)
    return {}
  })
}

/** Validates the configuration of a managed resource. */
export const validateResourceConfig: Rpc<'ValidateResourceConfig'> = (request, call) => {
  const { resources: types } = call.session.provider
  return validated(call, { kind: '', types }, request, request.clientCapabilities)
}

/** Validates the configuration of a data source. */
export const validateDataResourceConfig: Rpc<'ValidateDataResourceConfig'> = (request, call) =>
  validated(call, { kind: 'data.', types: call.session.provider.dataSources }, request)

/** Validates the configuration of a list of resources. */
export const validateListResourceConfig: Rpc<'ValidateListResourceConfig'> = (request, call) =>
  validated(call, { kind: 'list.', types: call.session.provider.lists }, request)

/** Validates the configuration of an action. */
export const validateActionConfig: Rpc<'ValidateActionConfig'> = (request, call) =>
  validated(call, { kind: 'action.', types: call.session.provider.actions }, request)

/** Validates the configuration of the provider. Runs in more than one process per command. */
export const validateProviderConfig: Rpc<'ValidateProviderConfig'> = async (request, call) => {
  const { provider } = call.session
  return respond({ call, what: 'Validating the provider configuration' }, async (reporter) => {
    const config = decodeObject(provider.configType, request.config)
    if (config !== null) await checkConfig(provider, config, callContext(call, reporter))
    return {}
  })
}
