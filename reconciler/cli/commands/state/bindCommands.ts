import type { ReadingClient } from '../../../../api/client/client.ts'
import { ApiError } from '../../../../api/contract/apiError.ts'
import type { ServiceResponse } from '../../../../api/contract/service.ts'
import { guardOrg } from '../../../apply/buildPlan.ts'
import { isManifestName } from '../../../manifest/schema/serviceManifest.ts'
import { newBinding } from '../../../plan/binding.ts'
import { EXIT } from '../../../run/exitCode.ts'
import { UsageError } from '../../../run/failure.ts'
import type { StateStore } from '../../../state/model/store.ts'
import { quoted } from '../../../text/counts.ts'
import type { Command } from '../../session/commandEntry.ts'
import type { CommandContext } from '../../session/context.ts'
import { closingAfter, openWritingSession } from '../../session/session.ts'
import { requireState, writingState } from '../../session/stateAccess.ts'

/** Binds service ID to manifest NAME; the next apply updates the service. Two requests. */
export const bindCommand: Command = async ([key = '', id = ''], context) => {
  requireState(context)
  requireManifestName(key)
  return closingAfter(await openWritingSession(context), async (session) => {
    const { store, client } = session
    const org = await guardOrg(session)
    const service = await serviceOf(id, client)
    const bindings = await store.bindings()
    const owner = bindings.find((binding) => binding.serviceId === service.id && binding.key !== key)
    if (owner !== undefined)
      throw new UsageError(`service ${id} belongs to ${owner.key}: unbind ${owner.key} first`)
    const before = bindings.find((binding) => binding.key === key)
    if (before !== undefined) throw new UsageError(`${key} has service ${before.serviceId}: unbind it first`)
    await store.settleIn({ orgId: org.id, url: session.url, source: null })
    await store.save({ put: newBinding(key, service.id) })
    await store.checkpoint()
    context.output.result(
      `${key} is now bound to service ${service.id} ${quoted(service.name)}; "pharos plan" shows the differences`,
    )
    noticeWithoutManifest(key, context)
    return { exitCode: EXIT.converged, document: { key, id: service.id, requests: session.requests() } }
  })
}

async function serviceOf(id: string, client: ReadingClient): Promise<ServiceResponse> {
  try {
    return await client.getService(id)
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 'not_found' && error.code !== 'invalid')) throw error
    throw new UsageError(
      `the organisation has no service ${id}: "pharos state verify" lists unmanaged services`,
    )
  }
}

/** Removes the binding of manifest NAME, without a change of the service. No request. */
export const unbindCommand: Command = ([key = ''], context) => {
  return writingState(context, async (store) => {
    const binding = await boundAs(key, store)
    await store.save({ drop: key })
    await store.checkpoint()
    context.output.result(`${key} is no longer bound to service ${binding.serviceId}, which is unchanged`)
    return { exitCode: EXIT.converged, document: { key, id: binding.serviceId } }
  })
}

/**
 * Moves the service of manifest OLD to manifest NEW, as previousNames does. No request. Fingerprints of secrets depend on the
 * name, so each secret counts as changed once.
 */
export const mvCommand: Command = async ([from = '', to = ''], context) => {
  requireManifestName(to)
  return writingState(context, async (store) => {
    const binding = await boundAs(from, store)
    const taken = (await store.bindings()).find((one) => one.key === to)
    if (taken !== undefined) throw new UsageError(`${to} has service ${taken.serviceId}: unbind it first`)
    await store.save({ drop: from, put: { ...binding, key: to } })
    await store.checkpoint()
    context.output.result(`service ${binding.serviceId} is now bound to ${to} instead of ${from}`)
    noticeWithoutManifest(to, context)
    return { exitCode: EXIT.converged, document: { from, to, id: binding.serviceId } }
  })
}

/** The next apply would remove a service bound to an invalid name. */
function requireManifestName(key: string): void {
  if (isManifestName(key)) return
  throw new UsageError(
    `no manifest can be named ${JSON.stringify(key)}: names consist of lower-case letters, digits, ".", "_" and "-"`,
  )
}

/** The command does not read the manifests, so it cannot check this. */
function noticeWithoutManifest(key: string, { output }: CommandContext): void {
  output.notice(`make sure that a manifest is named ${key}: without one the next apply removes the service`)
}

async function boundAs(key: string, store: StateStore) {
  const binding = (await store.bindings()).find((one) => one.key === key)
  if (binding === undefined)
    throw new UsageError(`the state has no service for ${key}: see "pharos state status"`)
  return binding
}
