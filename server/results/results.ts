import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import type { ResultsAnswer } from '../../monitoring/protocol/messages.ts'
import { threadFile } from '../../api/runtime/threadFile.ts'
import type { Arrival } from './ingest.ts'
import type { MonitoredService, Told } from './monitoredService.ts'
import type { FromThread, StoredTransition, ThreadSettings, ToThread } from './threadMessages.ts'

/** Pauses before a thread that died is started again: the last one from then on (milliseconds). */
const START_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** Messages of results that wait for the thread; agents keep what comes beyond (about 4 MiB). */
const WAITING_MAX = 100

/** What results are started with. */
export interface ResultsParts {
  readonly dataDir: string
  readonly storeId: string
  readonly log: Logger
  /** Everything that is monitored, told to each new thread. */
  readonly readAll: () => Promise<readonly MonitoredService[]>
  /** Called when a thread has opened its file, and when there are new transitions. */
  readonly onTransitions: (fileId: string) => void
}

/** Results cannot be taken at present; an agent sends them again. */
export class ResultsBusyError extends Error {}

interface Waiting {
  readonly resolve: (message: FromThread) => void
  readonly reject: (error: Error) => void
}

/**
 * The results, in a thread of their own: the API never waits for them. A thread that dies is started again, and told
 * everything anew; what it had not written is sent again by whoever sent it.
 */
export class Results {
  readonly #parts: ResultsParts
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #fileId: string | undefined
  #nextId = 1
  #deaths = 0
  #isSuspect = false
  #isStopped = false
  /** What is told goes in its order, after everything that there was when the thread started. */
  #telling: Promise<void> = Promise.resolve()
  #restart: NodeJS.Timeout | undefined

  constructor(parts: ResultsParts) {
    this.#parts = parts
    this.#start()
  }

  /** Whether results are taken. */
  get isUp(): boolean {
    return this.#fileId !== undefined
  }

  /**
   * Tells of changes of what is monitored. Rejects when they cannot be read. A thread that is down is told everything when
   * it is back.
   */
  tell(read: () => Promise<Told>): Promise<void> {
    const telling = this.#telling.then(async () => {
      const told = await read()
      this.#post({ kind: 'tell', told })
    })
    this.#telling = telling.catch(() => {})
    return telling
  }

  /** Stores results. Rejects with ResultsBusyError when they have to be sent again. */
  async ingest(arrival: Arrival): Promise<ResultsAnswer> {
    const message = await this.#ask((id) => ({ kind: 'ingest', id, arrival }))
    if (message.kind !== 'ingested') throw new ResultsBusyError('results cannot be taken at present')
    return message.answer
  }

  /** The transitions behind `after`, in their order, not all at once. */
  async transitions(after: number): Promise<readonly StoredTransition[]> {
    const message = await this.#ask((id) => ({ kind: 'transitions', id, after }))
    return message.kind === 'transitions' ? message.transitions : []
  }

  /** Writes what was sent, and ends the thread. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#restart)
    await this.#telling
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#post({ kind: 'stop' })
    await ended
  }

  #start(): void {
    const { dataDir, storeId, log, readAll } = this.#parts
    const settings: ThreadSettings = { dataDir, storeId, isSuspect: this.#isSuspect }
    const worker = new Worker(threadFile('pharos-server-results.js'), { workerData: settings, execArgv: [] })
    this.#worker = worker
    worker.on('message', (message: FromThread) => this.#take(message))
    worker.on('error', (error) => {
      this.#isSuspect = 'code' in error && String(error.code).startsWith('SQLITE_CORRUPT')
      log.error({ err: error }, 'the results thread failed')
    })
    worker.on('exit', () => this.#onExit())
    this.tell(async () => ({ services: await readAll(), ended: [], isWhole: true })).catch(
      (error: unknown) => {
        log.error({ err: error }, 'results could not be told what is monitored')
        void worker.terminate()
      },
    )
  }

  #onExit(): void {
    this.#worker = undefined
    this.#fileId = undefined
    for (const { reject } of this.#waiting.values()) reject(new ResultsBusyError('the results thread ended'))
    this.#waiting.clear()
    if (this.#isStopped) return
    const pauseMs = START_AGAIN_MS[Math.min(this.#deaths, START_AGAIN_MS.length - 1)] ?? 0
    this.#deaths += 1
    this.#parts.log.warn({ pauseMs }, 'the results thread is started again')
    this.#restart = setTimeout(() => this.#start(), pauseMs)
  }

  #take(message: FromThread): void {
    const { log, onTransitions } = this.#parts
    switch (message.kind) {
      case 'opened':
        this.#fileId = message.fileId
        this.#isSuspect = false
        if (message.damagedFile !== null) {
          log.error({ file: message.damagedFile }, 'the results were damaged: history was put aside')
        }
        onTransitions(message.fileId)
        return
      case 'changed':
        onTransitions(this.#fileId ?? '')
        return
      case 'trouble':
        log.error({ reason: message.reason }, 'results could not be written')
        return
      case 'ingested':
      case 'transitions':
      case 'refused': {
        this.#deaths = 0
        const waiting = this.#waiting.get(message.id)
        this.#waiting.delete(message.id)
        waiting?.resolve(message)
      }
    }
  }

  #ask(message: (id: number) => ToThread): Promise<FromThread> {
    if (this.#fileId === undefined || this.#waiting.size >= WAITING_MAX) {
      return Promise.reject(new ResultsBusyError('results cannot be taken at present'))
    }
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#post(message(id))
    })
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message)
  }
}
