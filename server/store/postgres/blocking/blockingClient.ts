import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { LONG_LIVED_THREAD, threadFile } from '../../../../api/runtime/threadFile.ts'
import type { ClientSettings, FromClient, SqlResult, SqlStatement, ToClient } from './clientMessages.ts'

/** Maximum wait for a reply (milliseconds): statement_timeout is shorter. */
const REPLY_MS_MAX = 30_000
const END_MS_MAX = 2_000

/** The connection is lost: the last statements may or may not have been executed, and no others can be. */
export class ConnectionLostError extends Error {}

/** PostgreSQL refused a statement. */
export class StatementError extends Error {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/**
 * A connection to PostgreSQL that blocks the calling thread until each reply. Only for threads of their own, never for
 * the main thread, which serves requests.
 */
export class BlockingClient {
  readonly #port: MessagePort
  readonly #signal = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker
  #isLost = false

  /** Connects at the first statement. */
  constructor(url: string, applicationName: string) {
    const { port1, port2 } = new MessageChannel()
    const settings: ClientSettings = { url, applicationName, signal: this.#signal }
    this.#port = port1
    this.#worker = new Worker(threadFile('pharos-server-link.js'), {
      ...LONG_LIVED_THREAD,
      workerData: { ...settings, port: port2 },
      transferList: [port2],
    })
    // The next statement reports the error.
    this.#worker.on('error', () => {})
    this.#worker.unref()
  }

  /** Executes statements in order. Throws ConnectionLostError, or StatementError for the first that is refused. */
  execute(statements: readonly SqlStatement[]): readonly SqlResult[] {
    if (this.#isLost) throw new ConnectionLostError('the connection to the database was lost')
    const reply = this.#ask({ statements }, REPLY_MS_MAX)
    if (reply !== undefined && 'results' in reply) return reply.results
    if (reply?.code != null) throw new StatementError(reply.message, reply.code)
    this.#isLost = true
    throw new ConnectionLostError(reply?.message ?? 'the database does not respond')
  }

  close(): void {
    if (!this.#isLost) this.#ask('end', END_MS_MAX)
    this.#isLost = true
    void this.#worker.terminate()
  }

  #ask(message: ToClient, waitMs: number): FromClient | undefined {
    const before = Atomics.load(this.#signal, 0)
    this.#port.postMessage(message)
    const untilMs = performance.now() + waitMs
    // A wake-up for the previous reply may come late: only a raised signal counts.
    while (Atomics.load(this.#signal, 0) === before) {
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0 || Atomics.wait(this.#signal, 0, before, leftMs) === 'timed-out') return undefined
    }
    // True because only the thread posts to this port.
    return receiveMessageOnPort(this.#port)?.message as FromClient | undefined
  }
}
