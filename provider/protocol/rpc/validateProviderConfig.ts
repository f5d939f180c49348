import { type Rpc, respond } from './call.ts'
import { callContext, checkConfig } from './handlers.ts'
import { decodeObject } from './wireValue.ts'

/** Checks the provider block. Runs without a client, in more than one process per command. */
export const validateProviderConfig: Rpc<'ValidateProviderConfig'> = async (request, call) => {
  const { provider } = call.session
  return respond({ call, what: 'Validating the provider configuration' }, async (reporter) => {
    const config = decodeObject(provider.configType, request.config)
    if (config !== null) await checkConfig(provider, config, callContext(call, reporter))
    return {}
  })
}
