import { type Rpc, respond } from './call.ts'
import { lookUp } from './handlers.ts'
import { requireObject } from './wireValue.ts'

/** Plans an action. Actions change no state, so nothing is planned; the configuration was already validated. */
export const planAction: Rpc<'PlanAction'> = ({ typeName, config }, call) =>
  respond({ call, what: `Planning action.${typeName}` }, () => {
    const { type } = lookUp(call.session.provider.actions, typeName)
    requireObject(type, config, 'configuration')
    return {}
  })
