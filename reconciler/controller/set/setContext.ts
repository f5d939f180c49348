import type { Client } from '../../../api/client/client.ts'
import type { Limiter } from '../../../api/client/limiter.ts'
import type { WaitObserver } from '../../../api/client/waiting.ts'
import type { Org } from '../../../api/contract/org.ts'
import type { ServiceSet } from '../../manifest/compile/declaredService.ts'
import type { GitSource, LoadedCommit } from '../../source/gitSource.ts'
import type { StateStore } from '../../state/model/store.ts'
import type { StateKey } from '../../state/stateKey.ts'
import type { SetSettings } from '../config/settings.ts'
import type { ControllerClock } from '../schedule/clock.ts'
import type { ServiceClaims } from './serviceClaims.ts'

/** The error of a wait or a read that was aborted because the set has to stop. */
export class Ending extends Error {
  constructor() {
    super('the set has to stop')
  }
}

/** The dependencies of one set besides its state. */
export interface SetParts {
  readonly settings: SetSettings
  readonly source: GitSource
  readonly client: Client
  /** Aborts all reads of the client, including later ones. Writes are never aborted. */
  readonly endReads: () => void
  /** Receives the reason of each wait of the client. */
  readonly observer: WaitObserver
  /** Sets the signal that aborts waits of the client; `undefined` removes it. */
  readonly endWaitsWith: (signal: AbortSignal | undefined) => void
  /** Delays the requests of the client. */
  readonly limiter: Limiter
  readonly clock: ControllerClock
  readonly newId: () => string
  /** Shared by all sets of the controller. */
  readonly claims: ServiceClaims
  /** Number of requests to the API so far. */
  readonly requests: () => number
}

/** The dependencies of one set with its open state. */
export interface SetContext extends SetParts {
  readonly store: StateStore
  readonly stateKey: StateKey
}

/** The manifests that are in force. */
export interface Accepted {
  readonly loaded: LoadedCommit
  /** The manifests of `loaded`, with policies limited by the configuration. */
  readonly set: ServiceSet
  /** Fingerprint of the files of secrets when the set was compiled. */
  readonly secretsFingerprint: string
}

/** Results that a set keeps between cycles. All can be determined again. */
export interface SetMemory {
  readonly accepted: Accepted | null
  /** The organisation, and when it was checked (monotonic milliseconds). */
  readonly org: { readonly org: Org; readonly atMs: number } | null
  /** Commit of the last run without a rewritten history; null before the first. */
  readonly baseline: string | null
  /** The last run record, so that equal ones are not written at every cycle. */
  readonly recorded: { readonly commit: string | null; readonly outcome: string } | null
}

/** The memory of a set at its start, read from its state. */
export async function initialMemory(store: Pick<StateStore, 'runs'>): Promise<SetMemory> {
  const runs = await store.runs(RUNS_LOOKED_AT)
  // A commit applied from the command line need not be on any branch.
  const known = runs.find(
    ({ trigger, commitSha, isHistoryRewritten }) =>
      trigger !== 'command' && commitSha !== null && !isHistoryRewritten,
  )
  return { accepted: null, org: null, baseline: known?.commitSha ?? null, recorded: null }
}

const RUNS_LOOKED_AT = 200
