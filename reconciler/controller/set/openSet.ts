import { Client } from '../../../api/client/client.ts'
import { Limiter } from '../../../api/client/limiter.ts'
import type { AttemptReport } from '../../../api/client/request.ts'
import { WaitObserver } from '../../../api/client/waiting.ts'
import { type GitSource, gitSource } from '../../source/gitSource.ts'
import { isGitLocation } from '../../state/git/gitRef.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { StateStore } from '../../state/model/store.ts'
import { openStore } from '../../state/openStore.ts'
import { stateKeyFor } from '../../state/stateKey.ts'
import type { SetSettings } from '../config/settings.ts'
import type { ControllerClock } from '../schedule/clock.ts'
import type { Slots } from '../schedule/slots.ts'
import type { ServiceClaims } from './serviceClaims.ts'
import { Ending, type SetContext, type SetParts } from './setContext.ts'
import { foldersOf, makeSetFolder } from './setFolders.ts'

/** Inputs of prepareSet besides its settings. */
export interface OpenDeps {
  readonly clock: ControllerClock
  readonly newId: () => string
  readonly userAgent: string
  /** Variables, of which git receives the few that it needs. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns the limiter that all sets with one key share. */
  readonly limiterOf: (settings: SetSettings) => Limiter
  readonly claims: ServiceClaims
  /** Limits the number of states in git that are opened at the same time. */
  readonly openings: Slots
  readonly onAttempt: (set: string, attempt: AttemptReport) => void
  readonly onFetch: (set: string, ms: number, result: 'ok' | 'failed') => void
}

/** A set whose state is opened later. */
export interface PreparedSet {
  readonly parts: SetParts
  /**
   * Opens the state, creating a missing one. Throws StateError, and the reason of `signal`, which also ends later calls
   * of git for the state.
   */
  readonly openState: (signal: AbortSignal) => Promise<SetContext>
  readonly close: () => Promise<void>
}

/** Makes the folders and the client of a set; sends no request. Throws StateError. */
export function prepareSet(settings: SetSettings, deps: OpenDeps): PreparedSet {
  const { config } = settings
  const { clock, newId, claims } = deps
  for (const folder of foldersOf(settings)) makeSetFolder(folder)
  let requests = 0
  const limiter = deps.limiterOf(settings)
  const ending = new AbortController()
  const observer = new WaitObserver(clock.nowMs)
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
  const parts: SetParts = {
    settings,
    source: sourceOf(settings, deps),
    client,
    observer,
    endWaitsWith: (signal) => {
      endWaits = signal
    },
    limiter,
    clock,
    newId,
    claims,
    requests: () => requests,
    endReads: () => ending.abort(new Ending()),
  }
  let store: StateStore | undefined
  return {
    parts,
    openState: async (signal) => {
      const state = await openedState(settings, deps, signal)
      store = state.store
      return { ...parts, ...state }
    },
    close: async () => {
      await Promise.all([client.close(), store?.close()])
    },
  }
}

/** The state of a set, whose services it claims, and its key. Throws StateError, and the reason of `signal`. */
async function openedState(
  { config, statePath, stateAccess, stateKey }: SetSettings,
  { env, claims, openings }: OpenDeps,
  signal: AbortSignal,
): Promise<Pick<SetContext, 'store' | 'stateKey'>> {
  const open = (): Promise<StateStore> => {
    signal.throwIfAborted()
    return openStore(statePath, env, { leaseTtlMs: config.leaseTtl, access: stateAccess, signal })
  }
  const store = await (isGitLocation(statePath) ? openings.run(async () => open()) : open())
  try {
    const { value } = stateKeyFor(statePath, stateKey, true)
    if (value === undefined) throw new StateError(`the state ${statePath} has no key`)
    const bindings = await store.bindings()
    claims.open(
      config.name,
      bindings.map(({ serviceId }) => serviceId),
    )
    return { store, stateKey: value }
  } catch (error) {
    await store.close()
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
