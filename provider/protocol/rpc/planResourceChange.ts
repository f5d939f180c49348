import type { AnyViews } from '../authoring/context.ts'
import type { AnyResource, PlanAmendment, PlanContext, Typed } from '../authoring/provider.ts'
import { checkPlan } from '../plan/checkPlan.ts'
import { markComputed, replacingPaths } from '../plan/planned.ts'
import { readResult } from '../state/handlerResult.ts'
import { keepSpelling } from '../state/keepSpelling.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { equalValues } from '../values/equality.ts'
import type { ObjectValue } from '../values/value.ts'
import type { ResponseOf } from '../wire/tfplugin6.ts'
import { type Reporter, type Rpc, respond } from './call.ts'
import { configuredContext, faultDiagnostic, lookUp } from './handlers.ts'
import { identityOf } from './identity.ts'
import { decodeObject, encodePath, encodeValue, requireObject } from './wireValue.ts'

type Response = ResponseOf<'PlanResourceChange'>
type Amendment = PlanAmendment<AnyViews> | undefined
type Change = PlanContext<AnyViews, unknown>['change']

/** One plan in progress. */
interface Planning {
  readonly resource: Typed<AnyResource<unknown>>
  readonly reporter: Reporter
  amend(change: Change): Promise<Amendment>
}

interface Parts {
  readonly proposed: ObjectValue
  readonly config: ObjectValue
  readonly prior: ObjectValue | null
}

/** The plan before the hook: Terraform's proposal, without write-only values, in the prior spelling. */
function propose({ handlers }: Planning['resource'], { proposed, prior }: Parts): ObjectValue {
  const { attributes } = handlers.schema
  const planned = withoutWriteOnly(attributes, proposed)
  return prior === null ? planned : keepSpelling(attributes, planned, prior)
}

async function planCreateOrUpdate(planning: Planning, parts: Parts): Promise<Response> {
  const { resource, reporter } = planning
  const { attributes } = resource.handlers.schema
  const { config, prior } = parts
  const differs = (value: ObjectValue): boolean => prior === null || !equalValues(resource.type, value, prior)
  const mark = (value: ObjectValue): ObjectValue =>
    differs(value) ? markComputed(attributes, value, { config, prior: prior ?? undefined }) : value

  const proposed = propose(resource, parts)
  const marked = mark(proposed)
  const amendment = await planning.amend(
    prior === null
      ? { action: 'create', config, planned: marked }
      : { action: 'update', config, planned: marked, prior, hasChanges: differs(proposed) },
  )
  const { state: amended, faults } = readResult(attributes, amendment?.planned ?? {}, 'exact')
  // A change that only the hook makes also sets computed values to unknown. Values of the hook take precedence.
  const planned = { ...mark({ ...marked, ...amended }), ...amended }
  const broken = [...faults, ...checkPlan(attributes, { planned, config, prior: prior ?? undefined })]
  for (const fault of broken) reporter.report(faultDiagnostic('error', resource.name, fault))
  return {
    plannedState: encodeValue(resource.type, planned),
    plannedIdentity: identityOf(resource, planned),
    requiresReplace: prior === null ? [] : replacingPaths(attributes, planned, prior).map(encodePath),
  }
}

/**
 * Plans the change from an object's prior state to its configuration. Runs in the plan and again in the apply, and must
 * give the same result. For a replacement it runs twice: with the prior state and without.
 *
 * Private bytes are passed on unchanged. Those of the second plan of a replacement belong to the existing object, whose
 * delete receives them.
 */
export const planResourceChange: Rpc<'PlanResourceChange'> = (request, call) =>
  respond({ call, what: `Planning ${request.typeName}` }, async (reporter): Promise<Response> => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const prior = decodeObject(resource.type, request.priorState)
    const proposed = decodeObject(resource.type, request.proposedNewState)
    const planning: Planning = {
      resource,
      reporter,
      amend: async (change) =>
        resource.handlers.plan?.({
          ...configuredContext(call, reporter),
          private: prior === null ? new Uint8Array(0) : request.priorPrivate,
          change,
        }),
    }
    const plannedPrivate = request.priorPrivate
    if (proposed !== null) {
      const config = requireObject(resource.type, request.config, 'configuration')
      return { ...(await planCreateOrUpdate(planning, { proposed, config, prior })), plannedPrivate }
    }
    if (prior === null) throw new Error('Terraform sent neither a prior nor a proposed state')
    await planning.amend({ action: 'delete', prior })
    return { plannedState: encodeValue(resource.type, null), plannedPrivate }
  })
