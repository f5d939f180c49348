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

/** Why a wait or a read was ended: the set is to stop. */
export class Ending extends Error {
  constructor() {
    super('the set is to stop')
  }
}

/** Everything that one set works with. */
export interface SetContext {
  readonly settings: SetSettings
  readonly source: GitSource
  readonly client: Client
  /** Ends the reads of the client, for good. What changes something is never ended. */
  readonly endReads: () => void
  /** Knows what the client waits for. */
  readonly observer: WaitObserver
  /** Has `signal` end every wait of the client from now on; `undefined` for none. */
  readonly endWaitsWith: (signal: AbortSignal | undefined) => void
  /** What stands before every request of the client. */
  readonly limiter: Limiter
  readonly store: StateStore
  readonly stateKey: StateKey
  readonly clock: ControllerClock
  readonly newId: () => string
  /** Which set of the controller has which service. */
  readonly claims: ServiceClaims
  /** Requests to the API so far. */
  readonly requests: () => number
}

/** The manifests that are in force. */
export interface Accepted {
  readonly loaded: LoadedCommit
  /** Those of `loaded`, with the policies that the configuration allows. */
  readonly set: ServiceSet
  /** What the files of secrets looked like when it was compiled. */
  readonly secretsFingerprint: string
}

/** What a set remembers from one cycle to the next. All of it can be found out again. */
export interface SetMemory {
  readonly accepted: Accepted | null
  /** The organisation, and when its guard passed (monotonic milliseconds). */
  readonly org: { readonly org: Org; readonly atMs: number } | null
  /** Commit of the last run whose history was not in doubt; null before the first. */
  readonly baseline: string | null
  /** What was last written down, so that the same is not written at every cycle. */
  readonly recorded: { readonly commit: string | null; readonly outcome: string } | null
}

/** What a set remembers when it starts, out of its state. */
export async function initialMemory(store: Pick<StateStore, 'runs'>): Promise<SetMemory> {
  const runs = await store.runs(RUNS_LOOKED_AT)
  // A run of the command line may have been of a commit that no branch has.
  const known = runs.find(
    ({ trigger, commitSha, isHistoryRewritten }) =>
      trigger !== 'command' && commitSha !== null && !isHistoryRewritten,
  )
  return { accepted: null, org: null, baseline: known?.commitSha ?? null, recorded: null }
}

const RUNS_LOOKED_AT = 200
