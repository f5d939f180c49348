import { randomUUID } from 'node:crypto'
import type { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { LONG_LIVED_THREAD, startThread, threadFile } from '../../api/runtime/threadFile.ts'
import type { AgentLoad } from '../../monitoring/protocol/agentStats.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { type AgentName, logAlerts } from './agentAlerts.ts'
import type { ChecksSettings, FromChecks, ToChecks } from './checksMessages.ts'
import type { Hub } from './hub.ts'
import { PortResponder } from './portResponder.ts'

/** Pauses before restarts of a failed thread (milliseconds); the last one repeats. */
const RESTART_PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
const CHECKS_THREAD: ChecksThread = {
  file: threadFile('pharos-server-checks.js'),
  silentMsMax: 5_000,
  startMsMax: 30_000,
  heartbeatCheckMs: 1_000,
}
/** Uptime after which a start counts as successful (milliseconds). */
const HEALTHY_MS = 60_000

/** Interval between lines with the same reason why checks could not be fetched (milliseconds). */
const TROUBLE_LOG_MS = 60_000

/** Name of the agent in logs and metrics. */
export const EMBEDDED_NAME: AgentName = { region: '', agent: 'embedded', instance: '' }

/** A thread and its heartbeat timeouts. */
export interface ChecksThread {
  readonly file: URL
  /**
   * Maximum silence, and maximum time from the start to the first heartbeat (milliseconds), before it is terminated.
   */
  readonly silentMsMax: number
  readonly startMsMax: number
  /** Interval between checks of the heartbeat (milliseconds). */
  readonly heartbeatCheckMs: number
}

/** Dependencies of an embedded agent. */
export interface EmbeddedParts {
  readonly hub: Pick<Hub, 'sync' | 'ingest'>
  /** Regions checked from this machine. */
  readonly regions: () => readonly string[]
  /** Private address ranges that checks may reach. */
  readonly allowedRanges: readonly string[]
  /** URL of the proxy for checks; without a proxy when absent. */
  readonly proxy?: string | undefined
  readonly log: Logger
  /** CHECKS_THREAD when absent; tests pass failing ones. */
  readonly thread?: ChecksThread
}

/** The agent in a thread of the server. A thread that ends or hangs is restarted; missed checks stay unknown. */
export class EmbeddedAgent {
  readonly #parts: EmbeddedParts
  readonly #thread: ChecksThread
  #worker: Worker | undefined
  /** Deadline of the next heartbeat (monotonic milliseconds). */
  #dueMs = 0
  #isLate = false
  #deaths = 0
  #restarts = 0
  #load: AgentLoad | undefined
  #trouble = { reason: '', quietUntilMs: 0 }
  #isStopped = false
  #restart: NodeJS.Timeout | undefined
  readonly #heartbeatTimer: NodeJS.Timeout

  constructor(parts: EmbeddedParts) {
    this.#parts = parts
    this.#thread = parts.thread ?? CHECKS_THREAD
    this.#start()
    this.#heartbeatTimer = setInterval(() => this.#checkHeartbeat(), this.#thread.heartbeatCheckMs)
  }

  /** Sends the agent its current regions. */
  updateRegions(): void {
    this.#post({ kind: 'regions', regions: this.#parts.regions() })
  }

  /** Load of the thread as of its last beat; `undefined` before the first. */
  get load(): AgentLoad | undefined {
    return this.#load
  }

  /** Number of restarts of the thread. */
  get restarts(): number {
    return this.#restarts
  }

  /** Lets the agent deliver its results, and stops it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#heartbeatTimer)
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#post({ kind: 'stop' })
    const timeout = setTimeout(() => void worker.terminate(), this.#thread.silentMsMax)
    await ended
    clearTimeout(timeout)
  }

  #start(): void {
    const { hub, log, allowedRanges, proxy } = this.#parts
    const { version } = packageJson
    const settings: ChecksSettings = { instance: randomUUID(), version, allowedRanges, proxy }
    const worker = startThread(this.#thread.file, { ...LONG_LIVED_THREAD, workerData: settings })
    if (worker instanceof Error) {
      log.error({ err: worker }, 'the checks thread failed')
      this.#onExit()
      return
    }
    const startedMs = performance.now()
    this.#worker = worker
    this.#dueMs = startedMs + this.#thread.startMsMax
    this.#isLate = false
    const responder = new PortResponder(hub, (response) =>
      worker.postMessage({ kind: 'response', response } satisfies ToChecks),
    )
    worker.on('message', (message: FromChecks) => this.#take(message, responder))
    worker.on('error', (error) => log.error({ err: error }, 'the checks thread failed'))
    worker.on('exit', () => {
      responder.end()
      if (performance.now() - startedMs > HEALTHY_MS) this.#deaths = 0
      this.#onExit()
    })
    this.updateRegions()
  }

  #onExit(): void {
    this.#worker = undefined
    this.#dueMs = Number.POSITIVE_INFINITY
    if (this.#isStopped) return
    const pauseMs = RESTART_PAUSES_MS[Math.min(this.#deaths, RESTART_PAUSES_MS.length - 1)] ?? 0
    this.#deaths += 1
    this.#restarts += 1
    this.#parts.log.warn({ pauseMs }, 'the checks thread is restarted')
    this.#restart = setTimeout(() => this.#start(), pauseMs)
  }

  /** Terminates a hanging thread. Checks twice: if this thread was blocked too, unread heartbeats may be queued. */
  #checkHeartbeat(): void {
    const isSilent = performance.now() > this.#dueMs
    if (isSilent && this.#isLate) {
      this.#parts.log.error('the checks thread does not respond and is terminated')
      this.#dueMs = Number.POSITIVE_INFINITY
      void this.#worker?.terminate()
    }
    this.#isLate = isSilent
  }

  #take(message: FromChecks, responder: PortResponder): void {
    switch (message.kind) {
      case 'beat':
        this.#dueMs = performance.now() + this.#thread.silentMsMax
        logAlerts(this.#parts.log, EMBEDDED_NAME, this.#load, message.load)
        this.#load = message.load
        return
      case 'trouble':
        this.#logTrouble(message)
        return
      case 'request':
        void responder.take(message.request)
    }
  }

  /** Logs why checks could not be fetched, which every region reports until they can; the same reason at intervals. */
  #logTrouble({ region, reason }: Extract<FromChecks, { readonly kind: 'trouble' }>): void {
    if (reason === this.#trouble.reason && performance.now() < this.#trouble.quietUntilMs) return
    this.#trouble = { reason, quietUntilMs: performance.now() + TROUBLE_LOG_MS }
    this.#parts.log.error({ region, reason }, 'the checks thread could not fetch its checks')
  }

  #post(message: ToChecks): void {
    this.#worker?.postMessage(message)
  }
}
