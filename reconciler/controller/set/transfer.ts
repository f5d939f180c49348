import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import { isInForce } from '../../state/model/record.ts'
import type { WindowState } from '../schedule/window.ts'
import type { SourceResult } from './readSource.ts'
import type { SetContext } from './setContext.ts'

/** A service that moved from one set to another. */
export interface HandedOver {
  readonly key: string
  readonly serviceId: string
  /** Name of the new set. */
  readonly to: string
}

/**
 * Hands services over to the sets whose manifests name them now; none while the manifests have problems or changes are
 * blocked. Throws errors of client and store.
 */
export async function handOver(
  context: SetContext,
  { accepted, sourceProblem, isRewritten }: SourceResult,
  { runId, window }: { readonly runId: string; readonly window: WindowState },
): Promise<readonly HandedOver[]> {
  const { claims, store, settings } = context
  const set = accepted?.set
  const isSure = accepted?.loaded.exists === true && set?.problems.length === 0 && sourceProblem === null
  if (set === undefined || !isSure || isRewritten) return []
  claims.want(settings.config.name, new Set(set.services.flatMap(({ id }) => id ?? [])))
  const wanted = claims.wantedFrom(settings.config.name)
  if (!window.isOpen || wanted.size === 0) return []
  const nowMs = context.clock.wallMs()
  const suspensions = await store.suspensions()
  const isSuspended = suspensions.some((one) => isInForce(one, nowMs))
  return isSuspended ? [] : release(context, { set, wanted, runId })
}

/**
 * Drops the bindings of services whose manifests were removed from `set` and whose ids another set of this controller names,
 * so that the other set can adopt them unchanged. A service that was paused because its manifest was removed is resumed
 * first. Throws errors of client and store.
 */
async function release(
  { store, client, clock }: SetContext,
  { set, wanted, runId }: { set: ServiceSet; wanted: ReadonlyMap<string, string>; runId: string },
): Promise<readonly HandedOver[]> {
  const named = new Set([
    ...set.services.flatMap(({ key, previousNames }) => [key, ...previousNames]),
    ...set.frozenKeys,
  ])
  const handed: HandedOver[] = []
  for (const { key, serviceId, tombstonedAtMs } of await store.bindings()) {
    const to = wanted.get(serviceId)
    if (to === undefined || named.has(key)) continue
    if (tombstonedAtMs !== null) await client.resumeService(serviceId)
    await store.save({ drop: key })
    handed.push({ key, serviceId, to })
  }
  const at = new Date(clock.wallMs()).toISOString()
  await store.note(
    handed.map((one) => ({
      ...{ at, runId, key: one.key, type: 'HandedOver', severity: 'info' as const },
      message: handOverText(one),
    })),
  )
  return handed
}

/** The message about a transfer. Pure. */
export function handOverText({ key, serviceId, to }: HandedOver): string {
  return `${key}: service ${serviceId} was handed over to the set ${to}`
}
