import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { LASTING_THREAD, threadFile } from '../../../api/runtime/threadFile.ts'
import type { LatestResult } from '../measurements/latestResults.ts'
import type { Measurements } from '../measurements/measurements.ts'
import { measurementsOf } from '../measurements/measurementsOf.ts'
import type { QueryInput, QueryName, QueryOutput } from '../measurements/queries.ts'
import { ResultsBusyError } from './resultsBusyError.ts'
import type { FromThread, ReadingSettings, ToThread } from './threadMessages.ts'
import { ThreadRequests } from './threadRequests.ts'

/** Pauses before a thread that died is started again: the last one from then on (milliseconds). */
const START_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000]
/** Most queries that wait for the thread: pages show without measurements beyond. */
const WAITING_MAX = 50

/** Results that another process may store, read in a thread of its own. */
export class ReadResults {
  readonly #settings: ReadingSettings
  readonly #log: Logger
  readonly #requests = new ThreadRequests(WAITING_MAX)
  readonly #listeners = new Set<(serviceIds: ReadonlySet<string>) => void>()
  #worker: Worker | undefined
  #restart: NodeJS.Timeout | undefined
  #deaths = 0
  #isStopped = false
  readonly measurements: Measurements = measurementsOf(
    (name, input) => this.#query(name, input),
    (listener) => {
      this.#listeners.add(listener)
      return () => this.#listeners.delete(listener)
    },
  )

  constructor(databaseUrl: string, log: Logger) {
    this.#settings = { databaseUrl }
    this.#log = log
    this.#start()
  }

  /** The last results of `series`, at most LATEST_SERIES_MAX. Rejects with ResultsBusyError while they cannot be read. */
  async latest(series: readonly number[]): Promise<readonly LatestResult[]> {
    const message = await this.#ask((id) => ({ kind: 'latest', id, series }))
    if (message.kind !== 'latest') throw new ResultsBusyError('results cannot be read at present')
    return message.results
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    const stop: ToThread = { kind: 'stop' }
    worker.postMessage(stop)
    await ended
  }

  #start(): void {
    const worker = new Worker(threadFile('pharos-server-reading.js'), {
      ...LASTING_THREAD,
      workerData: this.#settings,
    })
    this.#worker = worker
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', (error) => this.#log.warn({ err: error }, 'results cannot be read'))
    worker.on('exit', () => {
      this.#worker = undefined
      this.#requests.end()
      if (this.#isStopped) return
      const pauseMs = START_AGAIN_MS[Math.min(this.#deaths, START_AGAIN_MS.length - 1)]
      this.#deaths += 1
      this.#restart = setTimeout(() => this.#start(), pauseMs)
    })
  }

  #receive(message: FromThread): void {
    if (message.kind === 'states') {
      for (const listener of this.#listeners) listener(message.serviceIds)
    } else if ('id' in message) {
      this.#deaths = 0
      this.#requests.answer(message)
    }
  }

  async #query<Name extends QueryName>(name: Name, input: QueryInput<Name>): Promise<QueryOutput<Name>> {
    const message = await this.#ask((id) => ({ kind: 'query', id, name, input }))
    if (message.kind === 'refused') throw new ResultsBusyError(message.reason)
    // True because the thread answers a query with its own output.
    return (message.kind === 'measured' ? message.output : undefined) as QueryOutput<Name>
  }

  #ask(message: (id: number) => ToThread): Promise<FromThread> {
    const worker = this.#worker
    if (worker === undefined) return Promise.reject(new ResultsBusyError('results cannot be read at present'))
    return this.#requests.ask(message, (one) => worker.postMessage(one))
  }
}
