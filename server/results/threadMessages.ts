import type { ResultsAnswer } from '../../monitoring/protocol/messages.ts'
import type { Arrival } from './ingest.ts'
import type { Told } from './monitoredService.ts'

/** What the thread of results is started with. */
export interface ThreadSettings {
  readonly dataDir: string
  /** Identity of the store whose series are reported. */
  readonly storeId: string
  /** Whether the thread before died of a file that it could not understand. */
  readonly isSuspect: boolean
}

/** A transition as it is handed over. */
export interface StoredTransition {
  readonly sequence: number
  readonly atS: number
  readonly serviceId: string
  readonly kind: string
  /** JSON. */
  readonly body: string
}

/** What the thread is sent. Those with an `id` are answered. */
export type ToThread =
  | { readonly kind: 'tell'; readonly told: Told }
  | { readonly kind: 'ingest'; readonly id: number; readonly arrival: Arrival }
  | { readonly kind: 'transitions'; readonly id: number; readonly after: number }
  | { readonly kind: 'stop' }

/** What the thread sends. */
export type FromThread =
  | { readonly kind: 'opened'; readonly fileId: string; readonly damagedFile: string | null }
  | { readonly kind: 'ingested'; readonly id: number; readonly answer: ResultsAnswer }
  | {
      readonly kind: 'transitions'
      readonly id: number
      readonly transitions: readonly StoredTransition[]
    }
  /** What was asked for was not done; it may be asked for again. */
  | { readonly kind: 'refused'; readonly id: number; readonly reason: string }
  /** There are new transitions. */
  | { readonly kind: 'changed' }
  /** Something failed that is tried again. */
  | { readonly kind: 'trouble'; readonly reason: string }
