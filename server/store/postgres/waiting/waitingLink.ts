import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { LASTING_THREAD, threadFile } from '../../../../api/runtime/threadFile.ts'
import type { FromLink, LinkAnswer, LinkSettings, LinkStatement, ToLink } from './linkMessages.ts'

/** Longest wait for an answer (milliseconds): a statement is ended before. */
const ANSWER_MS_MAX = 30_000
const END_MS_MAX = 2_000

/** The connection is lost: what was under way may or may not have been executed. Nothing can be executed any more. */
export class LinkLostError extends Error {}

/** PostgreSQL refused a statement. */
export class StatementError extends Error {
  readonly code: string

  constructor(message: string, code: string) {
    super(message)
    this.code = code
  }
}

/**
 * A connection to PostgreSQL whose caller waits for each answer, without anything else running in its thread meanwhile: for a
 * thread that does nothing else. Never to be used where requests are answered.
 */
export class WaitingLink {
  readonly #port: MessagePort
  readonly #signal = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker
  #isLost = false

  /** Connects with the first statement. */
  constructor(url: string, applicationName: string) {
    const { port1, port2 } = new MessageChannel()
    const settings: LinkSettings = { url, applicationName, signal: this.#signal }
    this.#port = port1
    this.#worker = new Worker(threadFile('pharos-server-link.js'), {
      ...LASTING_THREAD,
      workerData: { ...settings, port: port2 },
      transferList: [port2],
    })
    // Its error is that of the next statement.
    this.#worker.on('error', () => {})
    this.#worker.unref()
  }

  /** Executes statements in their order. Throws LinkLostError, and StatementError for the first that is refused. */
  execute(statements: readonly LinkStatement[]): readonly LinkAnswer[] {
    if (this.#isLost) throw new LinkLostError('the connection to the database was lost')
    const answer = this.#ask({ statements }, ANSWER_MS_MAX)
    if (answer !== undefined && 'answers' in answer) return answer.answers
    if (answer?.code != null) throw new StatementError(answer.message, answer.code)
    this.#isLost = true
    throw new LinkLostError(answer?.message ?? 'the database does not answer')
  }

  close(): void {
    if (!this.#isLost) this.#ask('end', END_MS_MAX)
    this.#isLost = true
    void this.#worker.terminate()
  }

  #ask(message: ToLink, waitMs: number): FromLink | undefined {
    const before = Atomics.load(this.#signal, 0)
    this.#port.postMessage(message)
    const untilMs = performance.now() + waitMs
    // The call that wakes for the answer before may come after that was taken: only a raised signal counts.
    while (Atomics.load(this.#signal, 0) === before) {
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0 || Atomics.wait(this.#signal, 0, before, leftMs) === 'timed-out') return undefined
    }
    // True because only the thread posts to this port.
    return receiveMessageOnPort(this.#port)?.message as FromLink | undefined
  }
}
