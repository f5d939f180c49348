import { ApiError } from '../../api/contract/apiError.ts'
import type { Incident } from '../../api/contract/incident.ts'
import { type Diagnostic, errorAt, failure, warningAt } from '../protocol/authoring/diagnostics.ts'
import type { AmendmentOf, ResultOf, StateOf } from '../protocol/authoring/inferred.ts'
import { resourceFor } from '../protocol/authoring/provider.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import type { Connection } from '../service/connection.ts'
import { isUuid } from '../service/read/identifiers.ts'
import { runInSession } from '../service/runTask.ts'
import type { Session } from '../service/session.ts'
import { stateAfterFailedRead } from '../service/stateAfterFailedRead.ts'
import { openIfAbsent, updateIfAbsent } from './postIfAbsent.ts'
import { incidentSchema, RESOLVE_MESSAGE } from './schema.ts'

type State = StateOf<typeof incidentSchema>

/** The computed attributes of an incident, from the API's response. Pure. */
function observed(incident: Incident): ResultOf<typeof incidentSchema> {
  const { id, display_id, status, created_at, updated_at, resolved_at } = incident
  return { id, display_id, status, created_at, updated_at, resolved_at }
}

/**
 * The attributes of `incident` for a read, with the configured text: the log is append-only, so a manual update does
 * not change the text. Without a configured text, as after an import, it is that of the newest update. Pure.
 */
export function incidentState(incident: Incident, message: string | null): ResultOf<typeof incidentSchema> {
  const { title, service_ids, severity, updates } = incident
  const text = message ?? updates.at(-1)?.body ?? null
  return { ...observed(incident), title, service_ids, severity, message: text }
}

/** The updates of a resolved incident, which no longer change. */
function planResolved(prior: State): AmendmentOf<typeof incidentSchema> {
  const { message, severity, status, updated_at, resolved_at } = prior
  return { message, severity, status, updated_at, resolved_at }
}

/** The private bytes of an incident: the id of the key's organisation, which the API's incidents do not have. */
async function ownerOf(session: Session, signal: AbortSignal): Promise<Uint8Array> {
  return Buffer.from((await session.org(signal)).id)
}

/** Throws when the key belongs to another organisation than `owner`. */
async function checkOwner(session: Session, owner: Uint8Array, signal: AbortSignal): Promise<void> {
  // Empty after an import and in states of earlier versions, until a read.
  if (owner.length > 0) await session.checkOrg(Buffer.from(owner).toString(), signal)
}

/**
 * The result of a read; `null` when the incident does not exist. Throws when the key belongs to another organisation
 * than `owner`: each of its incidents would seem to be missing.
 */
async function refreshed(
  session: Session,
  {
    id,
    message,
    owner,
  }: { readonly id: string; readonly message: string | null; readonly owner: Uint8Array },
  signal: AbortSignal,
): Promise<{ readonly state: ResultOf<typeof incidentSchema>; readonly private: Uint8Array } | null> {
  try {
    const incident = await session.client.incidents.get(id, { signal })
    const state = incidentState(incident, message)
    return { state, private: owner.length > 0 ? owner : await ownerOf(session, signal) }
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error
    await checkOwner(session, owner, signal)
    return null
  }
}

/** The error about an opened incident whose status could not be set. */
function leftOpen({ display_id, status }: Incident): Diagnostic {
  const detail =
    `${display_id} is open as ${status}, and in the state as tainted, so that the next apply would resolve it and ` +
    'open another. To keep it, run "terraform untaint" with the address of the resource: the next apply sets it then.'
  return warningAt(['status'], 'The incident was opened with another status', detail)
}

/** `pharos_incident`. */
export const incidentResource = resourceFor<Connection>()({
  schema: incidentSchema,
  identity: ['id'],

  async validate({ config, report }) {
    const { problemsIn } = await import('./incidentRequests.ts')
    for (const [attribute, predicate] of problemsIn(config)) {
      report(errorAt([attribute], 'Invalid incident', `${attribute} ${predicate}.`))
    }
  },

  plan({ change, report }) {
    if (change.action === 'create') {
      const { status } = change.config
      const isOpen = status !== UNKNOWN && status !== 'resolved'
      return {
        planned: {
          ...(status === null ? { status: 'investigating' } : {}),
          ...(isOpen ? { resolved_at: null } : {}),
        },
      }
    }
    if (change.action === 'delete') return undefined
    const { prior, config, hasChanges } = change
    if (prior.status !== 'resolved') {
      const { status } = config
      return status === null
        ? { planned: { status: prior.status, resolved_at: prior.resolved_at } }
        : undefined
    }
    const isReopened = config.status !== null && config.status !== 'resolved'
    if (isReopened || (hasChanges && config.message !== prior.message)) {
      const detail = 'A resolved incident accepts no update: its message, severity and status stay unchanged.'
      report(warningAt(['status'], 'The incident is resolved', detail))
    }
    return { planned: planResolved(prior) }
  },

  async read(context) {
    const { prior } = context
    const { id } = prior
    if (id === null) throw new Error('the state has no id')
    try {
      const task = { task: `read incident ${id}`, operation: 'read' } as const
      return await runInSession(task, context, (session, signal) =>
        refreshed(session, { id, message: prior.message, owner: context.private }, signal),
      )
    } catch (error) {
      // An import has no stored state.
      if (prior.title === null) throw error
      return stateAfterFailedRead(error, context)
    }
  },

  async create(context) {
    const { config } = context
    const { incidentRequestSchema, incidentUpdateRequestSchema } = await import(
      '../../api/contract/incident.ts'
    )
    const request = incidentRequestSchema.parse({
      title: config.title,
      message: config.message,
      severity: config.severity,
      service_ids: config.service_ids,
    })
    const task = { task: `open incident "${request.title}"`, operation: 'create' } as const
    return runInSession(task, context, async (session, signal) => {
      const owner = await ownerOf(session, signal)
      const opened = await openIfAbsent(session, request, signal)
      const status = config.status ?? 'investigating'
      if (status === opened.status) return { state: observed(opened), private: owner }
      context.keep(observed(opened), owner)
      const update = incidentUpdateRequestSchema.parse({ body: request.message, status })
      try {
        const updated = await updateIfAbsent(session, opened.id, { update, signal })
        return { state: observed(updated), private: owner }
      } catch (error) {
        context.report(leftOpen(opened))
        throw error
      }
    })
  },

  async update(context) {
    const { planned, prior } = context
    const { id } = prior
    if (id === null) throw new Error('the state has no id')
    const isUpdated = (['message', 'severity', 'status'] as const).some(
      (name) => planned[name] !== prior[name],
    )
    if (!isUpdated) return { state: {} }
    const task = { task: `update incident ${prior.display_id}`, operation: 'update' } as const
    return runInSession(task, context, async (session, signal) => {
      await checkOwner(session, context.private, signal)
      const status = planned.status === UNKNOWN ? prior.status : planned.status
      const { incidentUpdateRequestSchema } = await import('../../api/contract/incident.ts')
      const update = incidentUpdateRequestSchema.parse({
        body: planned.message,
        status,
        severity: planned.severity,
      })
      return { state: observed(await updateIfAbsent(session, id, { update, signal })) }
    })
  },

  async delete(context) {
    const { prior } = context
    const { id } = prior
    if (id === null || prior.status === 'resolved') return
    const task = { task: `resolve incident ${prior.display_id}`, operation: 'delete' } as const
    await runInSession(task, context, async (session, signal) => {
      await checkOwner(session, context.private, signal)
      try {
        const current = await session.client.incidents.get(id, { signal })
        if (current.status === 'resolved') return
        const update = { body: prior.resolve_message ?? RESOLVE_MESSAGE, status: 'resolved' } as const
        await updateIfAbsent(session, id, { update, signal })
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'not_found')) throw error
      }
    })
  },

  import({ id }) {
    if (isUuid(id)) return { state: { id: id.toLowerCase() } }
    const detail = 'An import id is the UUID of an incident.'
    throw failure('Cannot import the incident', detail)
  },
})
