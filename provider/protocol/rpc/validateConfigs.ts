/** The RPCs that validate configurations. They run without a client, and again when more values are known. */
import type { Typed } from '../authoring/provider.ts'
import { type Call, type Rpc, respond } from './call.ts'
import { type Checking, callContext, checkConfig, lookUp } from './handlers.ts'
import {
  capabilitiesOf,
  decodeObject,
  requireObject,
  type WireCapabilities,
  type WireValue,
} from './wireValue.ts'

/** A configuration of type `name`; `kind` precedes it in messages. */
interface Validation {
  readonly kind: '' | 'data.' | 'list.' | 'action.'
  readonly name: string
  readonly config: WireValue | undefined
  readonly capabilities?: WireCapabilities | undefined
}

function validated(
  call: Call,
  types: ReadonlyMap<string, Typed<Checking>>,
  { kind, name, config, capabilities }: Validation,
): Promise<object> {
  return respond({ call, what: `Validating ${kind}${name}` }, async (reporter) => {
    const { handlers, type } = lookUp(types, name)
    const given = requireObject(type, config, 'configuration')
    await checkConfig(handlers, given, callContext(call, reporter), capabilitiesOf(capabilities))
    return {}
  })
}

/** Validates the configuration of a managed resource. */
export const validateResourceConfig: Rpc<'ValidateResourceConfig'> = (request, call) => {
  const { typeName: name, config, clientCapabilities: capabilities } = request
  return validated(call, call.session.provider.resources, { kind: '', name, config, capabilities })
}

/** Validates the configuration of a data source. */
export const validateDataResourceConfig: Rpc<'ValidateDataResourceConfig'> = ({ typeName, config }, call) =>
  validated(call, call.session.provider.dataSources, { kind: 'data.', name: typeName, config })

/** Validates the configuration of a list of resources. */
export const validateListResourceConfig: Rpc<'ValidateListResourceConfig'> = ({ typeName, config }, call) =>
  validated(call, call.session.provider.lists, { kind: 'list.', name: typeName, config })

/** Validates the configuration of an action. */
export const validateActionConfig: Rpc<'ValidateActionConfig'> = ({ actionType, config }, call) =>
  validated(call, call.session.provider.actions, { kind: 'action.', name: actionType, config })

/** Validates the configuration of the provider. Runs in more than one process per command. */
export const validateProviderConfig: Rpc<'ValidateProviderConfig'> = async (request, call) => {
  const { provider } = call.session
  return respond({ call, what: 'Validating the provider configuration' }, async (reporter) => {
    const config = decodeObject(provider.configType, request.config)
    if (config !== null) await checkConfig(provider, config, callContext(call, reporter))
    return {}
  })
}
