import type { Logger } from 'pino'
import type { ResultsResponse } from '../../../monitoring/protocol/messages.ts'
import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import type { Transition } from '../../store/monitoringStore.ts'
import type { RegionPresence } from '../agentWatch.ts'
import type { CheckCount } from '../checkCounts.ts'
import type { ResultsBatch } from '../ingest.ts'
import type { LatestResult } from '../measurements/latestResults.ts'
import type { Measurements } from '../measurements/measurements.ts'
import type { MonitoredChange, MonitoredService } from '../monitoredService.ts'
import { ResultsBusyError } from './resultsBusyError.ts'
import { ThreadClient, type ThreadEvent } from './threadClient.ts'
import type { ThreadSettings } from './threadMessages.ts'

/** Maximum number of waiting results (about 4 MiB); agents keep and resend further batches. */
const WAITING_RESULTS_MAX = 50_000

/** Interval between reads of the policy (milliseconds): other processes change plans and maintenance windows. */
const POLICY_MS = 60_000

/** Interval at which the same failure to write is logged (milliseconds). */
const FAILURE_LOG_MS = 60_000

/** Dependencies of `Results`. */
export interface ResultsParts extends Omit<ThreadSettings, 'isSuspect'> {
  readonly log: Logger
  /** All monitored services; each new thread starts with them. Rejects when `signal` is aborted. */
  readonly readAll: (signal: AbortSignal) => Promise<readonly MonitoredService[]>
  /** Reads the retention of history and the maintenance windows. */
  readonly readPolicy: () => Promise<HistoryPolicy>
  /** The time by which history expires (milliseconds since the epoch). */
  readonly trustedMs: () => number
  /** Called when a thread has opened its file, and when it has written new transitions. */
  readonly onTransitions: (fileId: string) => void
  /** Called after each run of the upkeep with its working time (seconds). */
  readonly onCompaction?: (secs: number) => void
}

/**
 * Stores results in its own thread, so that the API never waits for them. A failed thread is restarted and receives all
 * monitored services again; agents resend results that were not acknowledged.
 */
export class Results {
  readonly #parts: ResultsParts
  readonly #thread: ThreadClient
  readonly #policyTimer: NodeJS.Timeout
  readonly #stopping = new AbortController()
  #fileId: string | undefined
  #newestTransition = 0
  #isSuspect = false
  #checks: readonly CheckCount[] = []
  /** Updates reach the thread in order, after the initial complete set. */
  #updating: Promise<void> = Promise.resolve()
  #waitingResults = 0
  /** The last logged failure, and until when it is not logged again. */
  #failure = { reason: '', quietUntilMs: 0 }
  /** Queries for consoles and status pages. */
  readonly measurements: Measurements

  constructor(parts: ResultsParts) {
    const { place, lease, storeId, log } = parts
    this.#parts = parts
    this.#thread = new ThreadClient({
      log,
      file: 'pharos-server-results.js',
      settings: () => ({ place, lease, storeId, isSuspect: this.#isSuspect }),
      isUp: () => this.isUp,
      onStart: () => this.#sendAll(),
      onEvent: (event) => this.#receive(event),
      onError: (error, isRepeated) => {
        this.#isSuspect = 'code' in error && String(error.code).startsWith('SQLITE_CORRUPT')
        if (!isRepeated) log.error({ err: error }, 'the results thread failed')
      },
      onExit: () => {
        this.#fileId = undefined
        this.#checks = []
      },
    })
    this.measurements = this.#thread.measurements
    this.#thread.start()
    this.#policyTimer = setInterval(() => this.#sendPolicy(), POLICY_MS)
  }

  /** Whether the thread has opened its file and stores results. */
  get isUp(): boolean {
    return this.#fileId !== undefined
  }

  /** The open file and the sequence of its newest transition; `undefined` while the thread is down. */
  get newestTransition(): { readonly fileId: string; readonly sequence: number } | undefined {
    return this.#fileId === undefined ? undefined : { fileId: this.#fileId, sequence: this.#newestTransition }
  }

  /** Results that the thread has stored since it started. */
  get checks(): readonly CheckCount[] {
    return this.#checks
  }

  /** Requests that wait for the thread. */
  get waiting(): number {
    return this.#thread.waiting
  }

  get restarts(): number {
    return this.#thread.restarts
  }

  /**
   * Sends the change that `read` resolves to. Rejects when `read` does. While the thread is down nothing is sent: a
   * restarted thread receives the complete set.
   */
  update(read: () => Promise<MonitoredChange>): Promise<void> {
    const updating = this.#updating.then(async () => {
      // The next start reads all services.
      if (this.#stopping.signal.aborted) return
      const change = await read()
      this.#thread.post({ kind: 'update', change })
    })
    this.#updating = updating.catch(() => {})
    return updating
  }

  /** Reports which regions have agents. Call it repeatedly: while the thread is down, reports are lost. */
  reportAgents(regions: readonly RegionPresence[]): void {
    if (regions.length > 0) this.#thread.post({ kind: 'agents', regions })
  }

  /** Stores results. Rejects with ResultsBusyError when they must be sent again. */
  async ingest(batch: ResultsBatch): Promise<ResultsResponse> {
    const { length } = batch.request.results
    if (this.#waitingResults + length > WAITING_RESULTS_MAX) {
      throw new ResultsBusyError('too many results wait to be stored')
    }
    this.#waitingResults += length
    try {
      const message = await this.#thread.ask((id) => ({ kind: 'ingest', id, batch }))
      if (message.kind !== 'ingested') throw new ResultsBusyError('results cannot be stored at present')
      return message.response
    } finally {
      this.#waitingResults -= length
    }
  }

  /**
   * One page of transitions of the file `fileId` after the sequence `after`, in order. Rejects with ResultsBusyError
   * when the thread is down or the file was replaced.
   */
  async transitions(fileId: string, after: number): Promise<readonly Transition[]> {
    if (fileId !== this.#fileId) throw new ResultsBusyError('another file of results is open')
    const message = await this.#thread.ask((id) => ({ kind: 'transitions', id, after }))
    return message.kind === 'transitions' ? message.transitions : []
  }

  /** See `ThreadClient.latest`. */
  latest(series: readonly number[]): Promise<readonly LatestResult[]> {
    return this.#thread.latest(series)
  }

  /**
   * Stops the thread after it has written the messages that it received; in bounded time, also while it writes many
   * services.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#policyTimer)
    await this.#updating
    await this.#thread.stop()
  }

  #sendAll(): void {
    const { log, readAll } = this.#parts
    const { signal } = this.#stopping
    this.update(async () => ({ services: await readAll(signal), ended: [], isWhole: true })).catch(
      (error: unknown) => {
        if (signal.aborted) return
        log.error({ err: error }, 'the monitored services could not be read for the results thread')
        this.#thread.terminate()
      },
    )
    this.#sendPolicy()
  }

  #sendPolicy(): void {
    const { readPolicy, trustedMs } = this.#parts
    readPolicy().then(
      (policy) => this.#thread.post({ kind: 'policy', policy, trustedMs: trustedMs() }),
      (error: unknown) => this.#parts.log.error({ err: error }, 'the retention of results could not be read'),
    )
  }

  /** Logs a failure of the thread, which repeats its writes each second; the same one at intervals. */
  #logFailure(reason: string): void {
    if (reason === this.#failure.reason && performance.now() < this.#failure.quietUntilMs) return
    this.#failure = { reason, quietUntilMs: performance.now() + FAILURE_LOG_MS }
    this.#parts.log.error({ reason }, 'results could not be written')
  }

  #receive(message: ThreadEvent): void {
    const { log, onTransitions } = this.#parts
    switch (message.kind) {
      case 'opened':
        this.#fileId = message.fileId
        this.#newestTransition = message.newestTransition
        this.#isSuspect = false
        if (message.damagedFile !== null) {
          log.error(
            { file: message.damagedFile },
            'the results file was damaged and moved aside; history is lost',
          )
        }
        onTransitions(message.fileId)
        return
      case 'changed':
        this.#newestTransition = message.newestTransition
        onTransitions(this.#fileId ?? '')
        return
      case 'checks':
        this.#checks = message.counts
        return
      case 'compacted':
        this.#parts.onCompaction?.(message.secs)
        return
      case 'failed':
        this.#logFailure(message.reason)
        return
    }
  }
}
