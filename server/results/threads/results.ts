import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { LASTING_THREAD, threadFile } from '../../../api/runtime/threadFile.ts'
import type { ResultsAnswer } from '../../../monitoring/protocol/messages.ts'
import type { HistoryPolicy } from '../../domain/historyPolicy.ts'
import type { RegionPresence } from '../agentWatch.ts'
import type { CheckCount } from '../checkCounts.ts'
import type { ResultsBatch } from '../ingest.ts'
import type { LatestResult } from '../measurements/latestResults.ts'
import type { Measurements } from '../measurements/measurements.ts'
import { measurementsOf } from '../measurements/measurementsOf.ts'
import type { QueryInput, QueryName, QueryOutput } from '../measurements/queries.ts'
import type { ResultsPlace } from '../../store/engine.ts'
import type { MonitoredChange, MonitoredService } from '../monitoredService.ts'
import { ResultsBusyError } from './resultsBusyError.ts'
import type { FromThread, ThreadSettings, ToThread } from './threadMessages.ts'
import { ThreadRequests } from './threadRequests.ts'
import type { StoredTransition } from '../transitionRows.ts'

/** Pauses before a thread that died is started again: the last one from then on (milliseconds). */
const START_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Most requests that wait for the thread: one of each agent that may be connected. */
const WAITING_MAX = 1_024
/** Most results that wait for the thread (about 4 MiB); agents keep and resend further batches. */
const WAITING_RESULTS_MAX = 50_000

/** Most queries that wait for the thread: pages show without measurements beyond. */
const QUERIES_MAX = 50
/** Interval in which the policy is read again (milliseconds): plans and maintenance windows change in other processes. */
const POLICY_MS = 60_000

/** Dependencies of `Results`. */
export interface ResultsParts {
  readonly place: ResultsPlace
  /** What this process has to hold to write to a shared database; `null` for a file. */
  readonly lease: ThreadSettings['lease']
  readonly storeId: string
  readonly log: Logger
  /** All monitored services; each new thread starts with them. */
  readonly readAll: () => Promise<readonly MonitoredService[]>
  /** How long history is stored, and the maintenance windows. */
  readonly readPolicy: () => Promise<HistoryPolicy>
  /** Called when a thread has opened its file and when it has written new transitions. */
  readonly onTransitions: (fileId: string) => void
  /** Called after each run of the upkeep with the time that it worked (seconds). */
  readonly onCompaction?: (secs: number) => void
}

/**
 * The results, in a thread of their own: the API never waits for them. A thread that dies is restarted and receives all
 * monitored services again; agents resend what it had not acknowledged.
 */
export class Results {
  readonly #parts: ResultsParts
  readonly #requests = new ThreadRequests(WAITING_MAX)
  readonly #listeners = new Set<(serviceIds: ReadonlySet<string>) => void>()
  readonly #policyTimer: NodeJS.Timeout
  #worker: Worker | undefined
  #fileId: string | undefined
  #deaths = 0
  #restarts = 0
  #newestTransition = 0
  #isSuspect = false
  #checks: readonly CheckCount[] = []
  #isStopped = false
  /** Updates reach the thread in order, after the complete set that it starts with. */
  #updating: Promise<void> = Promise.resolve()
  #restart: NodeJS.Timeout | undefined
  #queries = 0
  #waitingResults = 0
  /** What consoles, status pages and commands read. */
  readonly measurements: Measurements = measurementsOf(
    (name, input) => this.#query(name, input),
    (listener) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    },
  )

  constructor(parts: ResultsParts) {
    this.#parts = parts
    this.#start()
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
    return this.#requests.count
  }

  /** How often the thread was started again. */
  get restarts(): number {
    return this.#restarts
  }

  /**
   * Sends the change that `read` gives to the thread. Rejects when `read` does. While the thread is down nothing is sent: a
   * restarted thread receives the complete set.
   */
  update(read: () => Promise<MonitoredChange>): Promise<void> {
    const updating = this.#updating.then(async () => {
      const change = await read()
      this.#post({ kind: 'update', change })
    })
    this.#updating = updating.catch(() => {})
    return updating
  }

  /** Takes which regions have agents, to be repeated: a thread that is down takes nothing. */
  reportAgents(regions: readonly RegionPresence[]): void {
    if (regions.length > 0) this.#post({ kind: 'agents', regions })
  }

  /** Stores results. Rejects with ResultsBusyError when they have to be sent again. */
  async ingest(batch: ResultsBatch): Promise<ResultsAnswer> {
    const { length } = batch.request.results
    if (this.#waitingResults + length > WAITING_RESULTS_MAX) {
      throw new ResultsBusyError('too many results wait to be stored')
    }
    this.#waitingResults += length
    try {
      const message = await this.#ask((id) => ({ kind: 'ingest', id, batch }))
      if (message.kind !== 'ingested') throw new ResultsBusyError('results cannot be stored at present')
      return message.answer
    } finally {
      this.#waitingResults -= length
    }
  }

  /**
   * Transitions of the file `fileId` with a sequence above `after`, in order; at most one page of them. Rejects with
   * ResultsBusyError, also when that file was replaced.
   */
  async transitions(fileId: string, after: number): Promise<readonly StoredTransition[]> {
    if (fileId !== this.#fileId) throw new ResultsBusyError('another file of results is open')
    const message = await this.#ask((id) => ({ kind: 'transitions', id, after }))
    return message.kind === 'transitions' ? message.transitions : []
  }

  /** The last results of `series`, at most LATEST_SERIES_MAX. Rejects with ResultsBusyError while they cannot be read. */
  async latest(series: readonly number[]): Promise<readonly LatestResult[]> {
    const message = await this.#ask((id) => ({ kind: 'latest', id, series }))
    if (message.kind !== 'latest') throw new ResultsBusyError('results cannot be read at present')
    return message.results
  }

  /** Ends the thread after it has written what it received. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restart)
    clearInterval(this.#policyTimer)
    await this.#updating
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#post({ kind: 'stop' })
    await ended
  }

  #start(): void {
    const { place, lease, storeId, log, readAll } = this.#parts
    const settings: ThreadSettings = { place, lease, storeId, isSuspect: this.#isSuspect }
    const worker = new Worker(threadFile('pharos-server-results.js'), {
      ...LASTING_THREAD,
      workerData: settings,
    })
    this.#worker = worker
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', (error) => {
      this.#isSuspect = 'code' in error && String(error.code).startsWith('SQLITE_CORRUPT')
      log.error({ err: error }, 'the results thread failed')
    })
    worker.on('exit', () => this.#onExit())
    this.update(async () => ({ services: await readAll(), ended: [], isWhole: true })).catch(
      (error: unknown) => {
        log.error({ err: error }, 'the monitored services could not be read for the results thread')
        void worker.terminate()
      },
    )
    this.#sendPolicy()
  }

  #sendPolicy(): void {
    this.#parts.readPolicy().then(
      (policy) => this.#post({ kind: 'policy', policy }),
      (error: unknown) => this.#parts.log.error({ err: error }, 'the retention of results could not be read'),
    )
  }

  async #query<Name extends QueryName>(name: Name, input: QueryInput<Name>): Promise<QueryOutput<Name>> {
    if (this.#queries >= QUERIES_MAX) throw new ResultsBusyError('too many queries wait for the results')
    this.#queries += 1
    try {
      const message = await this.#ask((id) => ({ kind: 'query', id, name, input }))
      if (message.kind === 'refused') throw new ResultsBusyError(message.reason)
      // True because the thread answers a query with its own output.
      return (message.kind === 'measured' ? message.output : undefined) as QueryOutput<Name>
    } finally {
      this.#queries -= 1
    }
  }

  #onExit(): void {
    this.#worker = undefined
    this.#fileId = undefined
    this.#checks = []
    this.#requests.end()
    if (this.#isStopped) return
    const pauseMs = START_AGAIN_MS[Math.min(this.#deaths, START_AGAIN_MS.length - 1)] ?? 0
    this.#deaths += 1
    this.#restarts += 1
    this.#parts.log.warn({ pauseMs }, 'the results thread is started again')
    this.#restart = setTimeout(() => this.#start(), pauseMs)
  }

  #receive(message: FromThread): void {
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
      case 'states':
        for (const listener of this.#listeners) listener(message.serviceIds)
        return
      case 'checks':
        this.#checks = message.counts
        return
      case 'compacted':
        this.#parts.onCompaction?.(message.secs)
        return
      case 'failed':
        log.error({ reason: message.reason }, 'results could not be written')
        return
      case 'ingested':
      case 'transitions':
      case 'measured':
      case 'latest':
      case 'refused': {
        this.#deaths = 0
        this.#requests.answer(message)
      }
    }
  }

  #ask(message: (id: number) => ToThread): Promise<FromThread> {
    if (this.#fileId === undefined) {
      return Promise.reject(new ResultsBusyError('results cannot be stored at present'))
    }
    return this.#requests.ask(message, (one) => this.#post(one))
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message)
  }
}
