import { ApiError } from '../../api/contract/apiError.ts'
import type { ServiceRequest, ServiceResponse } from '../../api/contract/service.ts'
import { type Diagnostic, DiagnosticError, warningAt } from '../protocol/authoring/diagnostics.ts'
import type { StateOf } from '../protocol/authoring/inferred.ts'
import { resourceFor } from '../protocol/authoring/provider.ts'
import { UNKNOWN } from '../protocol/values/value.ts'
import { createOrAdopt } from './apply/createOrAdopt.ts'
import {
  asksForRegions,
  emptyNameWarnings,
  lostSecretWarnings,
  planCreate,
  planUpdate,
  regionProblems,
  replacesDefinition,
  revisionOf,
  secretsWarnings,
} from './apply/planService.ts'
import { plannedDefinition } from './apply/plannedDefinition.ts'
import { hasKeyIds, overwrittenPlaces, withKeyIds } from './apply/sealedKeys.ts'
import { type Compiled, compileService } from './compile/compileService.ts'
import { regexProblems } from './compile/regexProblems.ts'
import { type Connection, connected } from './connection.ts'
import { importedId } from './read/importedId.ts'
import { inPriorOrder } from './read/priorOrder.ts'
import { observedState, toState } from './read/toState.ts'
import { runInSession, runTask } from './runTask.ts'
import type { ServiceConfig as Config } from './schema/config.ts'
import { serviceSchema } from './schema/schema.ts'
import type { Session } from './session.ts'
import { stateAfterFailedRead } from './stateAfterFailedRead.ts'

/**
 * Time for which a plan waits for the list of regions without `timeouts.read` (milliseconds). The apply refuses an
 * unknown code anyway.
 */
const REGIONS_MS = 60_000
/** Time limit for undoing a creation (milliseconds), which delays the end of an interrupted run. */
const UNDO_MS = 20_000

/** The request of a known configuration. Throws its problems, which validation has normally excluded. */
function requestOf(config: Config): {
  readonly request: ServiceRequest
  readonly secrets: Compiled['secrets']
} {
  const { request, secrets, problems } = compileService(config)
  // An ephemeral secret that the plan had may be null now, and a replace without it would erase the secret.
  if (problems.length > 0) throw new DiagnosticError(...problems)
  return { request, secrets }
}

/** `pharos_service`. */
export const serviceResource = resourceFor<Connection>()({
  schema: serviceSchema,
  identity: ['id'],

  async validate({ config, report }) {
    // Loaded here, because the schemas of the contract are large and a process that only returns the provider's schema
    // does not need them.
    const { validateService } = await import('./compile/validateService.ts')
    for (const diagnostic of validateService(config)) report(diagnostic)
    for (const diagnostic of await regexProblems(compileService(config).request)) report(diagnostic)
  },

  async plan({ change, client, private: privateData, report, signal }) {
    if (change.action !== 'create') recordOwned(client, change.prior)
    if (change.action === 'delete') return undefined
    const { config } = change
    if (client.session !== undefined && asksForRegions(change)) {
      for (const diagnostic of await checkRegions(client.session, config, signal)) report(diagnostic)
    }
    const { secrets } = compileService(config)
    if (change.action === 'create') return { planned: planCreate(config, change.planned) }
    const found = {
      comparison: await client.fingerprints.compare(secrets, privateData),
      overwritten: secrets.length === 0 ? [] : overwrittenPlaces(privateData, change.prior.sealed_key_ids),
    }
    for (const diagnostic of secretsWarnings(secrets, found)) report(diagnostic)
    for (const diagnostic of lostSecretWarnings(config, change.prior)) report(diagnostic)
    for (const diagnostic of emptyNameWarnings(config, change.prior)) report(diagnostic)
    return { planned: planUpdate(config, change.planned, change.prior, found) }
  },

  async read(context) {
    const { prior, client } = context
    const { id, org_id } = prior
    if (id === null) throw new Error('the state has no id')
    recordOwned(client, prior)
    const task = { task: `read service ${id}`, operation: 'read', timeouts: prior.timeouts } as const
    try {
      return await runInSession(task, context, async (session, signal) => {
        const service = await session.reads.read({ id, orgId: org_id }, signal)
        if (service === null) return null
        return {
          state: {
            ...toState(inPriorOrder(service, prior), prior),
            secrets_revision: prior.secrets_revision ?? 0,
          },
          // After an import, or when an older provider version recorded no key ids, the current values are accepted.
          private: hasKeyIds(context.private) ? context.private : withKeyIds(context.private, service),
        }
      })
    } catch (error) {
      // An import has no stored state.
      if (org_id === null) throw error
      return stateAfterFailedRead(error, context)
    }
  },

  async create(context) {
    const { config, planned, client, keep } = context
    const { request, secrets } = requestOf(config)
    const task = `create service "${request.name}"`
    const limits = { task, operation: 'create', timeouts: planned.timeouts } as const
    return runInSession(limits, context, async (session, signal) => {
      const fingerprint = await client.fingerprints.of(secrets)
      const created = await createOrAdopt({ session, request, signal, report: context.report })
      if (planned.paused !== true) {
        // An adopted service may have been paused manually meanwhile.
        const active =
          created.paused_at == null ? created : await session.client.resumeService(created.id, { signal })
        session.reads.wrote(active, 'changed')
        return { state: observedState(active), private: withKeyIds(fingerprint, active) }
      }
      try {
        // Sent with priority, because a service that is created paused should be checked as briefly as possible.
        const paused = await session.client.pauseService(created.id, { lane: 'next', signal })
        session.reads.wrote(paused, 'changed')
        return { state: observedState(paused), private: withKeyIds(fingerprint, paused) }
      } catch (error) {
        // An error would taint the state and replace the service, so the creation is undone instead.
        if (!(await isDeleted(session, created.id))) {
          keep(observedState(created), withKeyIds(fingerprint, created))
          context.report(leftActive(created))
        }
        throw error
      }
    })
  },

  async update(context) {
    const { config, planned, prior, client, keep } = context
    const { id, org_id } = prior
    if (id === null) throw new Error('the state has no id')
    const { request, secrets } = requestOf(plannedDefinition(planned, config))
    const task = `update service "${request.name}"`
    const limits = { task, operation: 'update', timeouts: planned.timeouts } as const
    return runInSession(limits, context, async (session, signal) => {
      if (org_id !== null) await session.checkOrg(org_id, signal)
      let privateData = context.private
      let latest: ServiceResponse | undefined
      const isFlipped = planned.paused !== UNKNOWN && planned.paused !== prior.paused
      // The service is paused before it changes and changed before it resumes, so that no check runs an old definition.
      if (isFlipped && planned.paused === true) {
        latest = await session.client.pauseService(id, { signal })
        keep({ paused: true, paused_at: latest.paused_at ?? null })
      }
      if (replacesDefinition(planned, prior)) {
        const fingerprint = await client.fingerprints.of(secrets)
        latest = await session.client.replaceService(id, request, { signal })
        privateData = withKeyIds(fingerprint, latest)
        keep(toState(latest, prior), privateData)
      }
      if (isFlipped && planned.paused === false) latest = await session.client.resumeService(id, { signal })
      if (latest === undefined) return { state: {}, private: privateData }
      session.reads.wrote(latest, 'changed')
      const secrets_revision = revisionOf(prior) + 1
      return {
        state: onlyUnknown(planned, { ...observedState(latest), secrets_revision }),
        private: privateData,
      }
    })
  },

  async delete(context) {
    const { id, org_id, name, timeouts } = context.prior
    if (id === null) return
    const limits = { task: `delete service "${name}"`, operation: 'delete', timeouts } as const
    await runInSession(limits, context, async (session, signal) => {
      if (org_id !== null) await session.checkOrg(org_id, signal)
      await deleteIfThere(session, id, signal)
    })
  },

  async import({ id, client, signal }) {
    return runTask({ task: 'import the service', operation: 'read' }, signal, async (wanted) => ({
      state: { id: await importedId(id, connected(client).reads, wanted) },
    }))
  },
})

/** Records in the creation guard that the state has the service. */
function recordOwned({ session }: Connection, { id, created_at }: StateOf<typeof serviceSchema>): void {
  if (id !== null) session?.guard?.recordOwned(id, created_at)
}

/** The error about a created service that could neither be paused nor deleted. */
function leftActive({ id }: ServiceResponse): Diagnostic {
  const detail =
    `Its id is ${id}. It is being checked, and is tainted in the state: the next apply would replace it. ` +
    'To keep it, run "terraform untaint" with the address of the resource: the next apply pauses it then.'
  return warningAt(['paused'], 'The service was created and is not paused', detail)
}

/**
 * Only the attributes of `result` that the plan left unknown. Planned values, such as ids of unchanged endpoints, are
 * compared with the server at the next refresh and do not fail this apply.
 */
function onlyUnknown<T extends object>(planned: Readonly<Record<string, unknown>>, result: T): Partial<T> {
  // True because entries of the result are only removed.
  return Object.fromEntries(
    Object.entries(result).filter(([name]) => planned[name] === UNKNOWN),
  ) as Partial<T>
}

/**
 * Problems with the configured regions, or a warning when the list of regions is not available in time. A refused key
 * is an error, because the apply would fail too; it is reported for one resource.
 */
async function checkRegions(
  session: Session,
  config: Config,
  signal: AbortSignal,
): Promise<readonly Diagnostic[]> {
  const { timeouts } = config
  const limits = { task: 'read the regions', operation: 'read', timeouts, defaultMs: REGIONS_MS } as const
  let isKeyRefused = false
  const regions = (wanted: AbortSignal): ReturnType<Session['regions']> =>
    session.regions(wanted).catch((error: unknown) => {
      isKeyRefused = error instanceof ApiError && (error.status === 401 || error.status === 403)
      throw error
    })
  try {
    return regionProblems(config, await runTask(limits, signal, regions))
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof DiagnosticError)) throw error
    if (isKeyRefused) return session.noteFailedRead(error) === 'new' ? error.diagnostics : []
    return error.diagnostics.map(({ detail }) =>
      warningAt(['regions'], 'Regions were not checked', `The list of regions could not be read. ${detail}`),
    )
  }
}

async function deleteIfThere(session: Session, id: string, signal: AbortSignal): Promise<void> {
  try {
    await session.client.deleteService(id, { signal })
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error
  }
  session.reads.deleted(id)
}

async function isDeleted(session: Session, id: string): Promise<boolean> {
  try {
    await deleteIfThere(session, id, AbortSignal.timeout(UNDO_MS))
    return true
  } catch {
    // The service still exists, so its state must be kept.
    return false
  }
}
