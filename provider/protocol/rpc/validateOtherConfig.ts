/** The RPCs that validate the configurations of data sources, lists and actions. They run without a client. */
import type { Typed } from '../authoring/provider.ts'
import { type Call, type Rpc, respond } from './call.ts'
import { type Checking, callContext, checkConfig, lookUp } from './handlers.ts'
import { requireObject, type WireValue } from './wireValue.ts'

/** A configuration of type `name`; `kind` precedes it in messages. */
interface OtherConfig {
  readonly kind: 'data' | 'list' | 'action'
  readonly name: string
  readonly config: WireValue | undefined
}

function validated(
  call: Call,
  types: ReadonlyMap<string, Typed<Checking>>,
  { kind, name, config }: OtherConfig,
): Promise<object> {
  return respond({ call, what: `Validating ${kind}.${name}` }, async (reporter) => {
    const { handlers, type } = lookUp(types, name)
    const given = requireObject(type, config, 'configuration')
    await checkConfig(handlers, given, callContext(call, reporter))
    return {}
  })
}

export const validateDataResourceConfig: Rpc<'ValidateDataResourceConfig'> = ({ typeName, config }, call) =>
  validated(call, call.session.provider.dataSources, { kind: 'data', name: typeName, config })

export const validateListResourceConfig: Rpc<'ValidateListResourceConfig'> = ({ typeName, config }, call) =>
  validated(call, call.session.provider.lists, { kind: 'list', name: typeName, config })

export const validateActionConfig: Rpc<'ValidateActionConfig'> = ({ actionType, config }, call) =>
  validated(call, call.session.provider.actions, { kind: 'action', name: actionType, config })
