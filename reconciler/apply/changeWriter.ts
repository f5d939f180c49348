import type { ServiceClient } from '../../api/client/client.ts'
import type { CallOptions } from '../../api/client/request.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import type { ChangeSource } from '../../api/contract/changeSource.ts'
import type { ServiceResponse } from '../../api/contract/service.ts'
import type { Binding } from '../plan/binding.ts'
import type { OpenCreate } from '../plan/createResolution.ts'
import { bindingFor } from '../plan/desiredService.ts'
import { withHeals } from '../plan/healLoop.ts'
import type { Change, Create, Prune, Record, Update } from '../plan/planValue.ts'
import { leaseLost } from '../state/model/stateError.ts'
import type { BindingChange, StateStore } from '../state/model/store.ts'
import { intended, intentsOf, type Step, stepName } from './intents.ts'
import { certainlyNotExecuted, IntentNotWritten, isFinalFailure, isRefusal } from './outcome.ts'
import type { PlanResult } from './planResult.ts'
import { withLiveValues } from './preservedFields.ts'
import { sideEffectsOf } from './sideEffects.ts'

/** Inputs of a write besides the change. */
export interface WriteInput {
  readonly client: ServiceClient
  readonly store: StateStore
  readonly planResult: PlanResult
  readonly runId: string
  readonly nowMs: () => number
  readonly newId: () => string
  /** Ids of the operations whose intents were recorded before the run, by the name of their step. */
  readonly begun: Map<string, string>
  /** Lost creations that are sent again, by key. */
  readonly lost: ReadonlyMap<string, OpenCreate>
  /** The source of the manifests; absent when unknown. */
  readonly origin?: Pick<ChangeSource, 'repository' | 'commit'> | undefined
  /** Whether another run may have taken over the state. */
  readonly isLost: () => boolean
}

/** The result of an executed change. */
export interface WriteResult {
  /** Id of the service; null for none. */
  readonly serviceId: string | null
  /** Notices for the user. */
  readonly notes: readonly string[]
}

/**
 * Executes `change`: records each request before it is sent, and its result together with the binding afterwards. Throws
 * errors of the client.
 */
export async function writeChange(writing: WriteInput, change: Change): Promise<WriteResult> {
  switch (change.kind) {
    case 'create':
      return create(writing, change)
    case 'update':
      return { serviceId: change.id, notes: await update(writing, change) }
    case 'record':
      return { serviceId: change.id, notes: await record(writing, change) }
    case 'prune':
      return { serviceId: change.id, notes: await prune(writing, change) }
    case 'drifted':
      return { serviceId: change.id, notes: [] }
    case 'blocked':
      return { serviceId: null, notes: [] }
  }
}

function declaredOf({ planResult }: WriteInput, key: string) {
  const desired = planResult.desired.get(key)
  const declared = planResult.declared.get(key)
  // A plan contains only keys that were declared.
  if (desired === undefined || declared === undefined) throw new Error(`${key} is planned but not declared`)
  return { desired, request: declared.request }
}

/** Sends one request between its intent and its result. `settled` returns the change of bindings for the response. */
async function send<Reply>(
  writing: WriteInput,
  step: Step,
  request: (opId: string, options: CallOptions) => Promise<Reply>,
  settled: (response: Reply) => BindingChange,
): Promise<Reply> {
  const { store, runId, nowMs, newId, lost } = writing
  const ahead = writing.begun.get(stepName(step))
  writing.begun.delete(stepName(step))
  const intent = intended(step, lost, ahead === undefined ? newId : () => ahead)
  const { opId } = intent
  const begin = (): Promise<void> => store.begin([{ ...intent, runId, sentAtMs: nowMs() }])
  // Recorded only when an attempt is about to be sent, after any wait: from then on it may take effect.
  const beforeSend = async (): Promise<void> => {
    if (ahead !== undefined) return
    await begin().catch((error: unknown) => {
      throw new IntentNotWritten(error)
    })
  }
  // The request may have waited for long, and a run that took over meanwhile assumes that it was never sent.
  const assertMaySend = (): void => {
    if (writing.isLost()) throw new IntentNotWritten(leaseLost())
  }
  let response: Reply
  try {
    const path = writing.planResult.declared.get(step.key)?.file ?? null
    response = await request(opId, { beforeSend, assertMaySend, source: { ...writing.origin, path } })
  } catch (error) {
    if (error instanceof IntentNotWritten) throw error
    const isFirst = !lost.has(step.key)
    // Any operation but a creation can be planned again, whether or not it took effect.
    if (step.kind !== 'create' || (isFirst && certainlyNotExecuted(error))) await store.settle(opId, {})
    // An earlier attempt may have taken effect: only after a refusal, the next one gets another id.
    else if (isFirst ? isFinalFailure(error) : isRefusal(error)) await store.failed(opId)
    // The time of an intent that was recorded ahead is that of the beginning of the run; the grace starts now.
    else if (ahead !== undefined) await begin()
    throw error
  }
  await store.settle(opId, settled(response))
  return response
}

/** The step of `kind` of `change`. */
function stepOf({ planResult }: WriteInput, change: Change, kind: Step['kind']): Step {
  const step = intentsOf(change, planResult).find((one) => one.kind === kind)
  if (step === undefined) throw new Error(`${change.key} has no step ${kind}`)
  return step
}

async function create(writing: WriteInput, change: Create): Promise<WriteResult> {
  const { client } = writing
  const { desired, request } = declaredOf(writing, change.key)
  const created = await send(
    writing,
    stepOf(writing, change, 'create'),
    async (opId, options) => {
      const response = await client.createService(request, opId, options)
      // The response may be the stored one of an earlier attempt, whose service has changed or no longer exists.
      return writing.lost.has(change.key) ? client.getService(response.id, { lane: 'next' }) : response
    },
    (service) => ({
      put: bindingFor(
        desired,
        service.id,
        canonicalResponse(service),
        change.paused ? null : (desired.paused ?? null),
      ),
    }),
  )
  // A new service runs at once, so its pause is sent ahead of waiting requests.
  if (change.paused) {
    const step = { ...stepOf(writing, change, 'pause'), serviceId: created.id }
    await send(
      writing,
      step,
      (_opId, options) => client.pauseService(created.id, { ...options, lane: 'next' }),
      () => ({
        put: bindingFor(desired, created.id, canonicalResponse(created), desired.paused ?? null),
      }),
    )
  }
  return { serviceId: created.id, notes: sideEffectsOf(desired, undefined, created) }
}

async function update(writing: WriteInput, change: Update): Promise<readonly string[]> {
  const { client, planResult } = writing
  const { id, pausing } = change
  const { desired, request } = declaredOf(writing, change.key)
  const drop = change.renamedFrom === null ? {} : { drop: change.renamedFrom }
  const put = (observed: Binding['observed'], paused: boolean | null): BindingChange => ({
    put: { ...bindingFor(desired, id, observed, paused), heals: healsAfter(writing, change) },
    ...drop,
  })
  const pausedAs = desired.paused ?? null
  const paused = (observed: Binding['observed']): Promise<ServiceResponse> =>
    send(
      writing,
      stepOf(writing, change, pausing ?? 'pause'),
      (_opId, options) =>
        pausing === 'resume' ? client.resumeService(id, options) : client.pauseService(id, options),
      // A pause before a new definition does not apply the manifest yet.
      () => (change.replace && pausing === 'pause' ? {} : put(observed, pausedAs)),
    )
  // A pause precedes the new definition and a resume follows it, so the old definition never runs by mistake.
  if (!change.replace) {
    await paused(change.observed)
    return []
  }
  if (pausing === 'pause') await paused(null)
  const replaced = await send(
    writing,
    stepOf(writing, change, 'replace'),
    (_opId, options) =>
      client.replaceService(id, withLiveValues(request, change.actual, change.keeps), options),
    (service) => put(canonicalResponse(service), pausing === 'resume' ? null : pausedAs),
  )
  if (pausing === 'resume') await paused(canonicalResponse(replaced))
  const before = planResult.services.find((service) => service.id === id)
  return sideEffectsOf(desired, before, replaced, change)
}

/** The heals of the binding after `change`; they reveal another writer. */
function healsAfter({ planResult, nowMs }: WriteInput, change: Update): Binding['heals'] {
  const before = planResult.bindings.get(change.renamedFrom ?? change.key)
  const healed = change.fields.filter(({ reason }) => reason === 'drift').map(({ pointer }) => pointer)
  return withHeals(before?.heals ?? [], healed, nowMs())
}

async function record(writing: WriteInput, change: Record): Promise<readonly string[]> {
  const { desired } = declaredOf(writing, change.key)
  const before = writing.planResult.bindings.get(change.renamedFrom ?? change.key)
  await writing.store.save({
    put: {
      ...bindingFor(desired, change.id, change.observed, desired.paused ?? null),
      heals: before?.heals ?? [],
    },
    ...(change.renamedFrom === null ? {} : { drop: change.renamedFrom }),
  })
  return []
}

async function prune(writing: WriteInput, change: Prune): Promise<readonly string[]> {
  const { client, store, planResult } = writing
  const { key, id } = change
  switch (change.how) {
    case 'forget':
    case 'detach':
      await store.save({ drop: key })
      return []
    case 'delete':
      await send(
        writing,
        stepOf(writing, change, 'delete'),
        (_opId, options) => deleteIfThere(client, id, options),
        () => ({ drop: key }),
      )
      return []
    case 'pause': {
      const binding = planResult.bindings.get(key)
      const put = binding === undefined ? {} : { put: { ...binding, tombstonedAtMs: writing.nowMs() } }
      await send(
        writing,
        stepOf(writing, change, 'pause'),
        (_opId, options) => client.pauseService(id, options),
        () => put,
      )
      return []
    }
  }
}

/** Deleting a service that no longer exists is success. */
async function deleteIfThere(client: ServiceClient, id: string, options: CallOptions): Promise<void> {
  try {
    await client.deleteService(id, options)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return
    throw error
  }
}
