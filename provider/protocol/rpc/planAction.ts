import { type Rpc, respond } from './call.ts'
import { lookUp } from './handlers.ts'
import { requireObject } from './wireValue.ts'

/** Plans an action. Actions change no state, so nothing is planned; the configuration was already validated. */
export const planAction: Rpc<'PlanAction'> = ({ actionType, config }, call) =>
  respond({ call, what: `Planning action.${actionType}` }, () => {
    const { type } = lookUp(call.session.provider.actions, actionType)
    requireObject(type, config, 'configuration')
    return {}
  })
