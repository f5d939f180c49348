import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import type { SetContext } from './setContext.ts'

/** A service that one set no longer names and another one does. */
export interface HandedOver {
  readonly key: string
  readonly serviceId: string
  /** Name of the set that has it next. */
  readonly to: string
}

/**
 * Lets go of services whose manifests are gone from `set` and whose ids the manifests of another set of this
 * controller name: the other one takes them over as they are, instead of finding them paused or deleted. One that was
 * paused because its manifest went runs again first. Throws what the client and the store throw.
 */
export async function handOver(
  { claims, store, client, settings, clock }: SetContext,
  set: ServiceSet,
  runId: string,
): Promise<readonly HandedOver[]> {
  const wanted = claims.wantedFrom(settings.config.name)
  if (wanted.size === 0) return []
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

/** What happened, for people. Pure. */
export function handOverText({ key, serviceId, to }: HandedOver): string {
  return `${key}: service ${serviceId} was handed over to the set ${to}`
}
