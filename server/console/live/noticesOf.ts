import { shownAgentToken } from '../../agents/agentStates.ts'
import type { Store } from '../../store/store.ts'
import type { Notices } from '../frame/notices.ts'
import type { ServiceIndex } from './serviceIndex.ts'

/** Data sources of warnings. */
export interface NoticeSources {
  readonly store: Pick<Store, 'listChannels' | 'regionModes' | 'listAgentTokens'>
  /** `undefined` when this process reads no results. */
  readonly measurements: unknown
  readonly index: Pick<ServiceIndex, 'readServices'>
}

/** The current warnings of an organisation, except for unavailable results. */
export async function noticesOf(
  sources: NoticeSources,
  orgId: string,
  nowMs: number,
): Promise<Omit<Notices, 'areResultsBusy'>> {
  const channels = await sources.store.listChannels(orgId)
  const disabledChannels = channels.filter(({ state }) => state === 'disabled')
  return { disabledChannels, lostRegions: await lostRegions(sources, orgId, nowMs) }
}

async function lostRegions(
  { store, measurements, index }: NoticeSources,
  orgId: string,
  nowMs: number,
): Promise<readonly string[]> {
  if (measurements === undefined) return []
  const remote = [...(await store.regionModes())].flatMap(([code, mode]) => (mode === 'remote' ? [code] : []))
  if (remote.length === 0) return []
  const tokens = (await store.listAgentTokens()).map((token) => shownAgentToken(token, nowMs))
  const lost = remote.filter(
    (code) => !tokens.some(({ region, state }) => region === code && state === 'connected'),
  )
  if (lost.length === 0) return []
  const { services } = await index.readServices(orgId)
  const used = new Set(services.flatMap(({ regions, pausedAt }) => (pausedAt === null ? regions : [])))
  return lost.filter((code) => used.has(code)).sort()
}
