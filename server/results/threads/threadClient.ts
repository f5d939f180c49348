import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { LONG_LIVED_THREAD, startThread, threadFile } from '../../../api/runtime/threadFile.ts'
import type { LatestResult } from '../measurements/latestResults.ts'
import type { Measurements } from '../measurements/measurements.ts'
import { measurementsOf } from '../measurements/measurementsOf.ts'
import type { QueryInput, QueryName, QueryOutput } from '../measurements/queries.ts'
import { ResultsBusyError } from './resultsBusyError.ts'
import type { FromThread, ReadingSettings, ThreadSettings, ToThread } from './threadMessages.ts'

/** Pauses before restarts of a failed thread (milliseconds); the last one repeats. */
const RESTART_PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Maximum wait for a thread that stops (milliseconds). */
const STOP_MS_MAX = 3_000
/** Maximum number of waiting requests: one of each agent that can be connected. */
const WAITING_MAX = 1_024
/** Maximum number of waiting queries: beyond, pages are shown without measurements. */
const QUERIES_MAX = 50

/** Messages that the owner of a thread handles. */
export type ThreadEvent = Exclude<FromThread, { readonly id: number } | { readonly kind: 'states' }>

/** A thread and the callbacks of its owner. */
export interface ThreadClientParts {
  /** Bundle of the thread. */
  readonly file: string
  /** Settings of the next thread. */
  readonly settings: () => ReadingSettings | ThreadSettings
  readonly log: Logger
  /** Whether the thread accepts requests; always when absent. */
  readonly isUp?: () => boolean
  readonly onStart?: () => void
  readonly onEvent?: (event: ThreadEvent) => void
  /** `isRepeated` when the thread failed for the same reason before, and has done no work since. */
  readonly onError: (error: Error, isRepeated: boolean) => void
  readonly onExit?: () => void
}

interface Waiting {
  readonly resolve: (message: FromThread) => void
  readonly reject: (error: Error) => void
}

/** A thread that runs queries about results. It is restarted when it ends, until `stop`. */
export class ThreadClient {
  readonly #parts: ThreadClientParts
  /** Requests that wait for a reply, by their ids. */
  readonly #waiting = new Map<number, Waiting>()
  #nextId = 1
  readonly #listeners = new Set<(serviceIds: ReadonlySet<string>) => void>()
  #worker: Worker | undefined
  #restart: NodeJS.Timeout | undefined
  #failures = 0
  /** The message of the last reported failure since the thread last responded. */
  #reported: string | undefined
  #restarts = 0
  #queries = 0
  #isStopped = false
  readonly measurements: Measurements = measurementsOf(
    (name, input) => this.#query(name, input),
    (listener) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    },
  )

  constructor(parts: ThreadClientParts) {
    this.#parts = parts
  }

  /** Requests that wait for the thread. */
  get waiting(): number {
    return this.#waiting.size
  }

  get restarts(): number {
    return this.#restarts
  }

  start(): void {
    const { file, settings, onStart } = this.#parts
    const worker = startThread(threadFile(file), { ...LONG_LIVED_THREAD, workerData: settings() })
    if (worker instanceof Error) {
      this.#report(worker)
      this.#onExit()
      return
    }
    this.#worker = worker
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', (error) => this.#report(error))
    worker.on('exit', () => this.#onExit())
    onStart?.()
  }

  /** Sends `message`. While the thread is down, it is lost. */
  post(message: ToThread): void {
    this.#worker?.postMessage(message)
  }

  /**
   * Resolves to the reply to a request. Rejects with ResultsBusyError while the thread is down or too many wait, and
   * when it ends.
   */
  ask(message: (id: number) => ToThread): Promise<FromThread> {
    if (this.#worker === undefined || this.#parts.isUp?.() === false) {
      return Promise.reject(new ResultsBusyError('results are unavailable at present'))
    }
    if (this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(new ResultsBusyError('too many requests wait for the results'))
    }
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.post(message(id))
    })
  }

  /**
   * The last results of `series`, at most LATEST_SERIES_MAX. Rejects with ResultsBusyError while they cannot be read.
   */
  async latest(series: readonly number[]): Promise<readonly LatestResult[]> {
    const message = await this.ask((id) => ({ kind: 'latest', id, series }))
    if (message.kind !== 'latest') throw new ResultsBusyError('results cannot be read at present')
    return message.results
  }

  /** Ends the thread, which is then restarted. */
  terminate(): void {
    void this.#worker?.terminate()
  }

  /** Stops the thread after it has handled all earlier messages, and ends it when that takes too long. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.post({ kind: 'stop' })
    // It may write all services of a large store. What it has not committed, agents send again.
    const timeout = setTimeout(() => void worker.terminate(), STOP_MS_MAX)
    await ended
    clearTimeout(timeout)
  }

  #receive(message: FromThread): void {
    if ('id' in message) {
      this.#failures = 0
      this.#reported = undefined
      this.#waiting.get(message.id)?.resolve(message)
      this.#waiting.delete(message.id)
    } else if (message.kind === 'states') {
      for (const listener of this.#listeners) listener(message.serviceIds)
    } else this.#parts.onEvent?.(message)
  }

  #report(error: Error): void {
    const isRepeated = error.message === this.#reported
    this.#reported = error.message
    this.#parts.onError(error, isRepeated)
  }

  #onExit(): void {
    this.#worker = undefined
    this.#parts.onExit?.()
    for (const { reject } of this.#waiting.values()) reject(new ResultsBusyError('the results thread ended'))
    this.#waiting.clear()
    if (this.#isStopped) return
    const pauseMs = RESTART_PAUSES_MS[Math.min(this.#failures, RESTART_PAUSES_MS.length - 1)] ?? 0
    this.#failures += 1
    this.#restarts += 1
    // It may fail for as long as an outage lasts.
    if (this.#failures === 1) this.#parts.log.warn({ pauseMs }, 'restarting the results thread')
    this.#restart = setTimeout(() => this.start(), pauseMs)
  }

  async #query<Name extends QueryName>(name: Name, input: QueryInput<Name>): Promise<QueryOutput<Name>> {
    if (this.#queries >= QUERIES_MAX) throw new ResultsBusyError('too many queries wait for the results')
    this.#queries += 1
    try {
      const message = await this.ask((id) => ({ kind: 'query', id, name, input }))
      if (message.kind === 'refused') throw new ResultsBusyError(message.reason)
      // True because the thread replies to a query with its own output.
      return (message.kind === 'measured' ? message.output : undefined) as QueryOutput<Name>
    } finally {
      this.#queries -= 1
    }
  }
}
