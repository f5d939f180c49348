import type { ResultsResponse } from '../../../monitoring/protocol/messages.ts'
import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import type { ResultsPlace } from '../../store/engine.ts'
import type { Transition } from '../../store/monitoringStore.ts'
import type { LeaseRow } from '../../store/store.ts'
import type { RegionPresence } from '../agentWatch.ts'
import type { CheckCount } from '../checkCounts.ts'
import type { ResultsBatch } from '../ingest.ts'
import type { LatestResult } from '../measurements/latestResults.ts'
import type { QueryInput, QueryName } from '../measurements/queries.ts'
import type { MonitoredChange } from '../monitoredService.ts'

/** Settings of a reading thread. */
export interface ReadingSettings {
  /** May have a password. */
  readonly databaseUrl: string
}

/** Settings of the results thread. */
export interface ThreadSettings {
  readonly place: ResultsPlace
  /** The lease that writes to a shared database require; `null` for a file. */
  readonly lease: LeaseRow | null
  /** Id of the store that numbers the series. */
  readonly storeId: string
  /** Whether the previous thread ended because the file is damaged. */
  readonly isSuspect: boolean
}

/** Messages to the thread. Those with an `id` get a reply. */
export type ToThread =
  | { readonly kind: 'update'; readonly change: MonitoredChange }
  | { readonly kind: 'policy'; readonly policy: HistoryPolicy; readonly trustedMs: number }
  | { readonly kind: 'agents'; readonly regions: readonly RegionPresence[] }
  | { readonly kind: 'ingest'; readonly id: number; readonly batch: ResultsBatch }
  | { readonly kind: 'transitions'; readonly id: number; readonly after: number }
  | {
      readonly kind: 'query'
      readonly id: number
      readonly name: QueryName
      readonly input: QueryInput<QueryName>
    }
  | { readonly kind: 'latest'; readonly id: number; readonly series: readonly number[] }
  | { readonly kind: 'stop' }

/** Messages from the thread. */
export type FromThread =
  | {
      readonly kind: 'opened'
      readonly fileId: string
      readonly damagedFile: string | null
      readonly newestTransition: number
    }
  | { readonly kind: 'ingested'; readonly id: number; readonly response: ResultsResponse }
  | {
      readonly kind: 'transitions'
      readonly id: number
      readonly transitions: readonly Transition[]
    }
  | { readonly kind: 'measured'; readonly id: number; readonly output: unknown }
  | { readonly kind: 'latest'; readonly id: number; readonly results: readonly LatestResult[] }
  /** The request failed and may be repeated. */
  | { readonly kind: 'refused'; readonly id: number; readonly reason: string }
  /** New transitions were written. */
  | { readonly kind: 'changed'; readonly newestTransition: number }
  /** States or reasons of these services changed; at most once a second. */
  | { readonly kind: 'states'; readonly serviceIds: ReadonlySet<string> }
  /** Results stored since the thread started; at most once a second. */
  | { readonly kind: 'checks'; readonly counts: readonly CheckCount[] }
  /** A run of the upkeep ended; `secs` is its working time. */
  | { readonly kind: 'compacted'; readonly secs: number }
  /** A write failed; the thread retries it. */
  | { readonly kind: 'failed'; readonly reason: string }
