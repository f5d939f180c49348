import type { AnyViews } from '../authoring/context.ts'
import { hasErrors } from '../authoring/diagnostics.ts'
import type { AnyResource, HandlerResult, Typed } from '../authoring/provider.ts'
import { settle } from '../state/handlerResult.ts'
import type { ObjectValue } from '../values/value.ts'
import { type Call, createReporter, type Reporter, type Rpc } from './call.ts'
import { configuredContext, faultDiagnostic, lookUp, returnedState, savedState } from './handlers.ts'
import { identityOf } from './identity.ts'
import { decodeObject, encodeDiagnostics, encodeValue, requireObject } from './wireValue.ts'

/** One apply in progress. */
interface Applying {
  readonly call: Call
  readonly reporter: Reporter
  readonly resource: Typed<AnyResource<unknown>>
  /** The private bytes of the existing object; empty for a new one, even in a replacement. */
  readonly private: Uint8Array
}

/** The result to save: an object, or null for one that does not exist, and its private bytes. */
interface Outcome {
  readonly state: ObjectValue | null
  readonly private: Uint8Array
}

interface CreateOrUpdate {
  readonly prior: ObjectValue | null
  readonly planned: ObjectValue
  readonly config: ObjectValue
}

/**
 * Faults in a handler's result are corrected, with a warning: if Terraform refused the result, it could lose the
 * object.
 */
function warningOf({ reporter, resource: { name, handlers } }: Applying) {
  return { reporter, name, attributes: handlers.schema.attributes, severity: 'warning' } as const
}

/** The values passed to `keep`, merged over the prior state or, for a new object, over the plan. */
function kept(applying: Applying, parts: CreateOrUpdate, result: HandlerResult<AnyViews>): Outcome {
  return {
    state: savedState(warningOf(applying), result.state, parts.prior ?? parts.planned),
    private: result.private ?? applying.private,
  }
}

/** The plan, with the result's values in place of unknown ones. */
function finished(applying: Applying, { planned }: CreateOrUpdate, result: HandlerResult<AnyViews>): Outcome {
  const { resource, reporter } = applying
  const { attributes } = resource.handlers.schema
  const settled = settle(attributes, planned, returnedState(warningOf(applying), result.state))
  for (const fault of settled.faults) reporter.report(faultDiagnostic('warning', resource.name, fault))
  return { state: settled.state, private: result.private ?? applying.private }
}

async function createOrUpdate(applying: Applying, parts: CreateOrUpdate): Promise<Outcome> {
  const { call, reporter, resource } = applying
  const { handlers, name } = resource
  let survivor: Outcome = { state: parts.prior, private: applying.private }
  const context = {
    config: parts.config,
    planned: parts.planned,
    private: applying.private,
    keep: (state: object, bytes?: Uint8Array): void => {
      survivor = kept(applying, parts, { state, ...(bytes === undefined ? {} : { private: bytes }) })
    },
  }
  const result = await reporter.attempt(`${parts.prior === null ? 'Creating' : 'Updating'} ${name}`, () => {
    const given = { ...configuredContext(call, reporter), ...context }
    if (parts.prior === null) return handlers.create(given)
    if (handlers.update === undefined) throw new Error('the resource has no update handler')
    return handlers.update({ ...given, prior: parts.prior })
  })
  if (result === undefined) return survivor
  // After an error the plan was not fulfilled, so the handler's result takes precedence.
  return hasErrors(reporter.diagnostics) ? kept(applying, parts, result) : finished(applying, parts, result)
}

async function destroy(applying: Applying, prior: ObjectValue): Promise<Outcome> {
  const { call, reporter, resource } = applying
  await reporter.attempt(`Deleting ${resource.name}`, () =>
    resource.handlers.delete({
      ...configuredContext(call, reporter),
      prior,
      private: applying.private,
    }),
  )
  return hasErrors(reporter.diagnostics)
    ? { state: prior, private: applying.private }
    : { state: null, private: new Uint8Array(0) }
}

/**
 * Creates, updates or deletes an object, and returns its state. The state after a failure:
 *
 * - create: the values that the handler kept or returned, with the resource tainted; nothing if there are none;
 * - update: the values that the handler kept or returned, or else the prior state;
 * - delete: the prior state.
 *
 * Values that Terraform would refuse in a successful response are replaced by the planned ones, with a warning: if
 * Terraform refused the response, it could lose the object.
 */
export const applyResourceChange: Rpc<'ApplyResourceChange'> = async (request, call) => {
  const reporter = createReporter(call)
  const saved = await reporter.around(`Applying ${request.typeName}`, async () => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const prior = decodeObject(resource.type, request.priorState)
    const planned = decodeObject(resource.type, request.plannedState)
    const privateBytes = prior === null ? new Uint8Array(0) : request.plannedPrivate
    const applying = { call, reporter, resource, private: privateBytes }
    if (planned !== null) {
      const config = requireObject(resource.type, request.config, 'configuration')
      const outcome = await createOrUpdate(applying, { prior, planned, config })
      return {
        newState: encodeValue(resource.type, outcome.state),
        private: outcome.private,
        newIdentity: identityOf(resource, outcome.state),
      }
    }
    if (prior === null) throw new Error('Terraform sent neither a prior nor a planned state')
    const outcome = await destroy(applying, prior)
    return { newState: encodeValue(resource.type, outcome.state), private: outcome.private }
  })
  return {
    // The request could not be decoded, so no handler was called.
    ...(saved ?? { newState: request.priorState }),
    diagnostics: encodeDiagnostics(reporter.diagnostics),
  }
}
