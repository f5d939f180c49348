import { Client } from '../../../api/client/client.ts'
import { Limiter } from '../../../api/client/limiter.ts'
import type { AttemptReport } from '../../../api/client/request.ts'
import { WaitObserver } from '../../../api/client/waiting.ts'
import { type GitSource, gitSource } from '../../source/gitSource.ts'
import { StateError } from '../../state/model/stateError.ts'
import { openStore } from '../../state/openStore.ts'
import { stateKeyFor } from '../../state/stateKey.ts'
import type { SetSettings } from '../config/settings.ts'
import type { ControllerClock } from '../schedule/clock.ts'
import type { ServiceClaims } from './serviceClaims.ts'
import { Ending, type SetContext } from './setContext.ts'
import { foldersOf, makeSetFolder } from './setFolders.ts'

/** Inputs of openSet besides its settings. */
export interface OpenDeps {
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly userAgent: string
  /** Variables, of which git receives the few that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns the limiter that all sets with one key share. */
  readonly limiterOf: (settings: SetSettings) => Limiter
  readonly claims: ServiceClaims
  readonly onAttempt: (set: string, attempt: AttemptReport) => void
  readonly onFetch: (set: string, ms: number, result: 'ok' | 'failed') => void
}

/** An open set. */
export interface OpenSet {
  readonly context: SetContext
  /** Services in its state when it was opened. */
  readonly serviceIds: readonly string[]
  readonly close: () => Promise<void>
}

/** Opens the state of a set, creating a missing one, and a client; sends no request. Throws StateError. */
export async function openSet(settings: SetSettings, deps: OpenDeps): Promise<OpenSet> {
  const { config, statePath } = settings
  for (const folder of foldersOf(settings)) makeSetFolder(folder)
  const store = await openStore(statePath, deps.env, {
    leaseTtlMs: config.leaseTtl,
    access: settings.stateAccess,
  })
  let requests = 0
  const limiter = deps.limiterOf(settings)
  const ending = new AbortController()
  const observer = new WaitObserver(deps.clock.nowMs)
  let endWaits: AbortSignal | undefined
  const client = new Client({
    endReads: ending.signal,
    endWaits: () => endWaits,
    observer,
    url: settings.apiUrl,
    apiKey: settings.apiKey,
    outgoing: settings.outgoing,
    userAgent: deps.userAgent,
    limiter,
    onAttempt: (attempt) => {
      requests += 1
      deps.onAttempt(config.name, attempt)
    },
  })
  const close = async (): Promise<void> => {
    await Promise.all([client.close(), store.close()])
  }
  try {
    const serviceIds = (await store.bindings()).map((binding) => binding.serviceId)
    const { value } = stateKeyFor(statePath, settings.stateKey, true)
    if (value === undefined) throw new StateError(`the state ${statePath} has no key`)
    const { clock, newId } = deps
    return {
      context: {
        settings,
        source: sourceOf(settings, deps),
        client,
        observer,
        endWaitsWith: (signal) => {
          endWaits = signal
        },
        limiter,
        store,
        stateKey: value,
        clock,
        newId,
        claims: deps.claims,
        requests: () => requests,
        endReads: () => ending.abort(new Ending()),
      },
      serviceIds,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function sourceOf({ config, access, mirrorDirectory }: SetSettings, deps: OpenDeps): GitSource {
  const { branch, path, fetchTimeout, fetchMiB } = config.repository
  const source = gitSource({
    access,
    branch,
    directory: mirrorDirectory,
    env: deps.env,
    path,
    environment: config.environment,
    transferMsMax: fetchTimeout,
    transferMiBMax: fetchMiB,
  })
  return { ...source, fetch: timedFetch(source, deps, config.name) }
}

function timedFetch({ fetch }: GitSource, { clock, onFetch }: OpenDeps, set: string): GitSource['fetch'] {
  return async (signal) => {
    const startedAtMs = clock.nowMs()
    const measured = (result: 'ok' | 'failed'): void => onFetch(set, clock.nowMs() - startedAtMs, result)
    try {
      const head = await fetch(signal)
      measured('ok')
      return head
    } catch (error) {
      measured('failed')
      throw error
    }
  }
}

/** One limiter for each key. */
export function sharedLimiters(clock: ControllerClock): OpenDeps['limiterOf'] {
  const limiters = new Map<string, Limiter>()
  return ({ apiUrl, apiKey }) => {
    const name = `${apiUrl} ${apiKey}`
    const limiter = limiters.get(name) ?? new Limiter(undefined, clock)
    limiters.set(name, limiter)
    return limiter
  }
}
