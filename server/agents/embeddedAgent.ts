import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import * as z from 'zod'
import type { PortRequest } from '../../monitoring/agent/portLink.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { threadFile } from '../../api/runtime/threadFile.ts'
import { messageProblem } from './agentMessage.ts'
import type { AgentLoad, ChecksSettings, FromChecks, ToChecks } from './checksMessages.ts'
import type { Hub } from './hub.ts'

/** Pauses before a thread that died is started again: the last one from then on (milliseconds). */
const START_AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
/** A thread that has no turns for this long is ended (milliseconds). */
const SILENT_MS_MAX = 5_000
/** How often that is looked at (milliseconds). */
const LOOK_MS = 1_000
/** A thread that has lived for this long has started well (milliseconds). */
const WELL_MS = 60_000

/** Status of a message that is not understood: the sender does not send it again. */
const NOT_UNDERSTOOD = 400

/** What an embedded agent is started with. */
export interface EmbeddedParts {
  readonly hub: Pick<Hub, 'sync' | 'ingest'>
  /** Regions that are checked from this machine. */
  readonly regions: () => readonly string[]
  /** Private ranges that may be checked. */
  readonly allowedRanges: readonly string[]
  readonly log: Logger
}

/** The agent in a thread of the server. One that dies, or loops, is started again: what it missed stays unknown. */
export class EmbeddedAgent {
  readonly #parts: EmbeddedParts
  readonly #waiting = new Map<number, AbortController>()
  #worker: Worker | undefined
  #beatMs: number | undefined
  #isLate = false
  #deaths = 0
  #restarts = 0
  #load: AgentLoad | undefined
  #isStopped = false
  #restart: NodeJS.Timeout | undefined
  readonly #looking: NodeJS.Timeout

  constructor(parts: EmbeddedParts) {
    this.#parts = parts
    this.#start()
    this.#looking = setInterval(() => this.#look(), LOOK_MS)
  }

  /** Sends the agent the regions that are its own by now. */
  updateRegions(): void {
    this.#post({ kind: 'regions', regions: this.#parts.regions() })
  }

  /** Load of the thread as of its last beat; `undefined` before the first. */
  get load(): AgentLoad | undefined {
    return this.#load
  }

  /** How often the thread was started again. */
  get restarts(): number {
    return this.#restarts
  }

  /** Lets the agent hand over what it found, and ends it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#looking)
    clearTimeout(this.#restart)
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    this.#post({ kind: 'stop' })
    const impatience = setTimeout(() => void worker.terminate(), SILENT_MS_MAX)
    await ended
    clearTimeout(impatience)
  }

  #start(): void {
    const { log, allowedRanges } = this.#parts
    const { version } = packageJson
    const settings: ChecksSettings = { instance: randomUUID(), version, allowedRanges }
    const worker = new Worker(threadFile('pharos-server-checks.js'), { workerData: settings, execArgv: [] })
    const startedMs = performance.now()
    this.#worker = worker
    this.#beatMs = undefined
    this.#isLate = false
    worker.on('message', (message: FromChecks) => this.#take(message, worker))
    worker.on('error', (error) => log.error({ err: error }, 'the checks thread failed'))
    worker.on('exit', () => {
      if (performance.now() - startedMs > WELL_MS) this.#deaths = 0
      this.#onExit()
    })
    this.updateRegions()
  }

  #onExit(): void {
    this.#worker = undefined
    for (const waiting of this.#waiting.values()) waiting.abort()
    this.#waiting.clear()
    if (this.#isStopped) return
    const pauseMs = START_AGAIN_MS[Math.min(this.#deaths, START_AGAIN_MS.length - 1)] ?? 0
    this.#deaths += 1
    this.#restarts += 1
    this.#parts.log.warn({ pauseMs }, 'the checks thread is started again')
    this.#restart = setTimeout(() => this.#start(), pauseMs)
  }

  /** Ends a thread that loops. It is looked at twice: when this thread had no turn either, its beats wait to be read. */
  #look(): void {
    const isSilent = this.#beatMs !== undefined && performance.now() - this.#beatMs > SILENT_MS_MAX
    if (isSilent && this.#isLate) {
      this.#parts.log.error('the checks thread does not answer and is ended')
      void this.#worker?.terminate()
    }
    this.#isLate = isSilent
  }

  #take(message: FromChecks, worker: Worker): void {
    switch (message.kind) {
      case 'beat':
        this.#beatMs = performance.now()
        this.#load = message.load
        return
      case 'trouble': {
        const { region, reason } = message
        this.#parts.log.error({ region, reason }, 'the checks thread could not learn what to check')
        return
      }
      case 'request':
        void this.#answer(message.request, worker)
    }
  }

  async #answer(request: PortRequest, worker: Worker): Promise<void> {
    const { id } = request
    if (request.kind === 'cancel') {
      this.#waiting.get(id)?.abort()
      return
    }
    const waiting = new AbortController()
    this.#waiting.set(id, waiting)
    try {
      const { hub, regions } = this.#parts
      const body =
        request.kind === 'sync'
          ? await hub.sync({ region: request.region }, request.body, waiting.signal)
          : await hub.ingest(regions(), request.body)
      worker.postMessage({ kind: 'answer', answer: { id, kind: 'answer', body } } satisfies ToChecks)
    } catch (error) {
      worker.postMessage({ kind: 'answer', answer: { id, ...failureOf(error) } } satisfies ToChecks)
    } finally {
      this.#waiting.delete(id)
    }
  }

  #post(message: ToChecks): void {
    this.#worker?.postMessage(message)
  }
}

/** Why there is no answer: a message that is not understood has the status that an agent elsewhere gets for it. */
function failureOf(error: unknown) {
  if (error instanceof z.ZodError) {
    return { kind: 'failed', reason: messageProblem(error).message, status: NOT_UNDERSTOOD } as const
  }
  return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) } as const
}
