import type { AnyViews } from '../authoring/context.ts'
import type { AnyResource, PlanAmendment, PlanContext, Typed } from '../authoring/provider.ts'
import type { Attributes } from '../authoring/schema.ts'
import { checkPlan } from '../plan/checkPlan.ts'
import { applyDefaults, markComputed, replacingPaths } from '../plan/planned.ts'
import { readResult } from '../state/handlerResult.ts'
import { keepSpelling } from '../state/keepSpelling.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { equalValues } from '../values/equality.ts'
import { formatPath, type Path } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'
import type { ResponseOf } from '../wire/tfplugin6.ts'
import { type Reporter, type Rpc, respond } from './call.ts'
import { configuredContext, faultDiagnostic, lookUp } from './handlers.ts'
import { identityOf } from './identity.ts'
import { openPrivate, sealPrivate } from './privateEnvelope.ts'
import { capabilitiesOf, decodeObject, encodePath, encodeValue, requireObject } from './wireValue.ts'

type Response = ResponseOf<'PlanResourceChange'>
type Amendment = PlanAmendment<AnyViews> | undefined
type Change = PlanContext<AnyViews, unknown>['change']

/** One plan in progress. */
interface Planning {
  readonly resource: Typed<AnyResource<unknown>>
  /** Private bytes of the planned object and of the existing one, which differ in a replacement. */
  readonly private: { readonly given: Uint8Array; readonly prior: Uint8Array }
  readonly reporter: Reporter
  amend(change: Change): Promise<Amendment>
}

interface Parts {
  readonly proposed: ObjectValue
  readonly config: ObjectValue
  readonly prior: ObjectValue | null
}

/** The plan before the hook: Terraform's proposal with defaults, without write-only values, in the prior spelling. */
function propose({ handlers }: Planning['resource'], { proposed, config, prior }: Parts): ObjectValue {
  const { attributes } = handlers.schema
  const planned = withoutWriteOnly(attributes, applyDefaults(attributes, proposed, config))
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
    requiresReplace: prior === null ? [] : replacements({ attributes, planned, prior }, amendment),
    plannedPrivate: sealPrivate({
      planned: amendment?.private ?? planning.private.given,
      prior: planning.private.prior,
    }),
  }
}

function replacements(
  { attributes, planned, prior }: { attributes: Attributes; planned: ObjectValue; prior: ObjectValue },
  amendment: Amendment,
): Response['requiresReplace'] & object {
  const paths: readonly Path[] = [
    ...replacingPaths(attributes, planned, prior),
    ...(amendment?.requiresReplace ?? []),
  ]
  const distinct = new Map(paths.map((path) => [formatPath(path), path]))
  return [...distinct.values()].map(encodePath)
}

async function planDelete(planning: Planning, prior: ObjectValue): Promise<Response> {
  const amendment = await planning.amend({ action: 'delete', prior })
  return {
    plannedState: encodeValue(planning.resource.type, null),
    plannedPrivate: sealPrivate({
      planned: amendment?.private ?? planning.private.given,
      prior: planning.private.prior,
    }),
  }
}

/**
 * Plans the change from an object's prior state to its configuration. Runs in the plan and again in the apply, and must
 * give the same result. For a replacement it runs twice: with the prior state and without.
 */
export const planResourceChange: Rpc<'PlanResourceChange'> = (request, call) =>
  respond({ call, what: `Planning ${request.typeName}` }, async (reporter): Promise<Response> => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const prior = decodeObject(resource.type, request.priorState)
    const proposed = decodeObject(resource.type, request.proposedNewState)
    // The second plan of a replacement receives the private bytes of the first one, which contain those of the object.
    const priorPrivate = prior === null ? openPrivate(request.priorPrivate).prior : request.priorPrivate
    // A new object starts without private bytes, even in a replacement.
    const given = prior === null ? new Uint8Array(0) : priorPrivate
    const planning: Planning = {
      resource,
      private: { given, prior: priorPrivate },
      reporter,
      amend: async (change) =>
        resource.handlers.plan?.({
          ...configuredContext(call, reporter),
          private: given,
          capabilities: capabilitiesOf(request.clientCapabilities),
          change,
        }),
    }
    if (proposed !== null) {
      const config = requireObject(resource.type, request.config, 'configuration')
      return planCreateOrUpdate(planning, { proposed, config, prior })
    }
    if (prior === null) throw new Error('Terraform sent neither a prior nor a proposed state')
    return planDelete(planning, prior)
  })
