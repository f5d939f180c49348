import type { Client } from '../../api/client/client.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { canonicalResponse } from '../../api/contract/canonical.ts'
import { changesBetween } from '../../api/contract/fieldChange.ts'
import { formatPath } from '../../api/contract/problem.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import type { DesiredService } from '../plan/desiredService.ts'
import type { Change, Create, Prune, Record, Update } from '../plan/planValue.ts'
import { fieldPath } from '../render/fieldText.ts'
import type { BindingChange, CreateIntent, Intent, StateStore } from '../state/store.ts'
import { certainlyNotExecuted, IntentNotWritten, isFinalFailure } from './outcome.ts'
import { bindingFor, type Situation } from './situation.ts'

/** What writing needs besides the change itself. */
export interface Writing {
  readonly client: Client
  readonly store: StateStore
  readonly situation: Situation
  readonly runId: string
  readonly nowMs: () => number
  readonly newId: () => string
}

/** What a change left behind. */
export interface Written {
  /** The service that it was about; null when there is none. */
  readonly serviceId: string | null
  /** Things to tell the user once. */
  readonly notes: readonly string[]
}

/**
 * Carries out `change`: each request is written down before it leaves, and its outcome together with the
 * binding afterwards. Throws what the client throws.
 */
export async function writeChange(writing: Writing, change: Change): Promise<Written> {
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

interface Declared {
  readonly desired: DesiredService
  readonly request: ServiceRequest
}

function declaredOf({ situation }: Writing, key: string): Declared {
  const desired = situation.desired.get(key)
  const declared = situation.declared.get(key)
  // A plan names only keys that were declared when it was made.
  if (desired === undefined || declared === undefined) throw new Error(`${key} is planned but not declared`)
  return { desired, request: declared.request }
}

interface Step {
  readonly kind: Intent['kind']
  readonly key: string
  readonly serviceId: string | null
  readonly create?: CreateIntent
}

/** One request between its intent and its outcome. `settled` gives what the answer does to the bindings. */
async function send<Answer>(
  { store, runId, nowMs, newId }: Writing,
  step: Step,
  request: (opId: string) => Promise<Answer>,
  settled: (answer: Answer) => BindingChange,
): Promise<Answer> {
  const opId = newId()
  const intent = { opId, runId, ...step, create: step.create ?? null, sentAtMs: nowMs() }
  await store.begin([intent]).catch((error: unknown) => {
    throw new IntentNotWritten(error)
  })
  let answer: Answer
  try {
    answer = await request(opId)
  } catch (error) {
    // Everything but a creation may simply be planned again, whatever became of it.
    if (step.kind !== 'create' || certainlyNotExecuted(error)) await store.settle(opId, {})
    else if (isFinalFailure(error)) await store.failed(opId)
    throw error
  }
  await store.settle(opId, settled(answer))
  return answer
}

async function create(writing: Writing, change: Create): Promise<Written> {
  const { client, situation } = writing
  const { desired, request } = declaredOf(writing, change.key)
  const preIds = situation.services.filter((service) => service.name === request.name).map(({ id }) => id)
  const { onDelete, protect, pruneAfterSecs } = desired.policy
  const policy = { onDelete, protect, pruneAfterSecs }
  const intent: CreateIntent = { sent: desired.canonical, preIds, policy }
  const created = await send(
    writing,
    { kind: 'create', key: change.key, serviceId: null, create: intent },
    (opId) => client.createService(request, opId),
    (service) => ({
      put: bindingFor(
        desired,
        service.id,
        canonicalResponse(service),
        change.paused ? null : (desired.paused ?? null),
      ),
    }),
  )
  // A new service runs at once, so the pause goes before everything that waits.
  if (change.paused) await pausing(writing, desired, created.id, 'pause', created)
  return { serviceId: created.id, notes: rewrittenBy(desired, created) }
}

async function update(writing: Writing, change: Update): Promise<readonly string[]> {
  const { client } = writing
  const { desired, request } = declaredOf(writing, change.key)
  // A wrong definition never runs: a pause goes before the new definition, a resume after it.
  if (change.pausing === 'pause' && change.replace) {
    await send(
      writing,
      { kind: 'pause', key: change.key, serviceId: change.id },
      () => client.pauseService(change.id),
      () => ({}),
    )
  }
  if (!change.replace) {
    if (change.pausing !== null) await pausing(writing, desired, change.id, change.pausing, null, change)
    return []
  }
  const replaced = await send(
    writing,
    { kind: 'replace', key: change.key, serviceId: change.id },
    () => client.replaceService(change.id, request),
    (service) => ({
      put: bindingFor(
        desired,
        change.id,
        canonicalResponse(service),
        change.pausing === 'resume' ? null : (desired.paused ?? null),
      ),
      ...dropOf(change),
    }),
  )
  if (change.pausing === 'resume') await pausing(writing, desired, change.id, 'resume', replaced)
  return rewrittenBy(desired, replaced)
}

function dropOf(change: Update | Record): BindingChange {
  return change.renamedFrom === null ? {} : { drop: change.renamedFrom }
}

async function pausing(
  writing: Writing,
  desired: DesiredService,
  id: string,
  kind: 'pause' | 'resume',
  before: ServiceResponse | null,
  change?: Update,
): Promise<void> {
  const { client } = writing
  await send(
    writing,
    { kind, key: desired.key, serviceId: id },
    () => (kind === 'pause' ? client.pauseService(id, { lane: 'next' }) : client.resumeService(id)),
    () => ({
      put: bindingFor(
        desired,
        id,
        before === null ? (change?.observed ?? null) : canonicalResponse(before),
        desired.paused ?? null,
      ),
      ...(change === undefined ? {} : dropOf(change)),
    }),
  )
}

async function record(writing: Writing, change: Record): Promise<readonly string[]> {
  const { desired } = declaredOf(writing, change.key)
  await writing.store.save({
    put: bindingFor(desired, change.id, change.observed, desired.paused ?? null),
    ...dropOf(change),
  })
  return []
}

async function prune(writing: Writing, change: Prune): Promise<readonly string[]> {
  const { client, store } = writing
  const { key, id } = change
  switch (change.how) {
    case 'forget':
    case 'detach':
      await store.save({ drop: key })
      return []
    case 'delete':
      await send(
        writing,
        { kind: 'delete', key, serviceId: id },
        () => deleteIfThere(client, id),
        () => ({ drop: key }),
      )
      return []
    case 'pause': {
      const binding = (await store.bindings()).find((one) => one.key === key)
      const put = binding === undefined ? {} : { put: { ...binding, tombstonedAtMs: writing.nowMs() } }
      await send(
        writing,
        { kind: 'pause', key, serviceId: id },
        () => client.pauseService(id),
        () => put,
      )
      return []
    }
  }
}

/** Deleting what is already gone is success. */
async function deleteIfThere(client: Client, id: string): Promise<void> {
  try {
    await client.deleteService(id)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return
    throw error
  }
}

/** Fields that the server stores otherwise than they were sent: told once, because it may be a slip that it "fixed". */
function rewrittenBy(desired: DesiredService, answer: ServiceResponse): readonly string[] {
  const changes = changesBetween(desired.canonical, canonicalResponse(answer), 'set-is-equal')
  if (changes.length === 0) return []
  const fields = changes.map((change) => formatPath(fieldPath(change.pointer))).join(', ')
  return [`the server stores these fields otherwise than they were sent: ${fields}`]
}
