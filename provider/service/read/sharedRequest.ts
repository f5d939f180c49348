/**
 * Time for which a failure is reused (milliseconds). A walk over a thousand services then fails once, instead of
 * waiting a thousand times for an unreachable server. A longer apply sends the request again.
 */
export const FAILURE_BELIEVED_MS = 30_000

/** One execution of the request. */
interface Question<T> {
  readonly result: Promise<T>
  /** Aborts the request. */
  readonly abandon: (reason: unknown) => void
  readonly askedAtMs: number
  /** Whether it is still pending. */
  isOpen: boolean
  /** Number of calls that wait for the result. */
  waiting: number
}

/** A request that many calls share. It is sent once for all of them, and runs while any of them waits. */
export class SharedRequest<T> {
  readonly #ask: (signal: AbortSignal) => Promise<T>
  readonly #nowMs: () => number
  #question: Question<T> | undefined
  #failedAtMs: number | undefined

  /** `ask` must end when its signal aborts. `nowMs` is a monotonic clock (milliseconds). */
  constructor(ask: (signal: AbortSignal) => Promise<T>, nowMs: () => number = () => performance.now()) {
    this.#ask = ask
    this.#nowMs = nowMs
  }

  /** Whether the request was sent and not reset since. */
  get isRequested(): boolean {
    return this.#question !== undefined
  }

  /**
   * The result. Throws the error of the request, or the reason of `signal` when that aborts first. When the last
   * waiting call aborts, the request is aborted. If it was pending for as long as a failure is reused, it counts as
   * failed, so that later calls need not wait as long.
   */
  async result(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#failedAtMs !== undefined && this.#nowMs() - this.#failedAtMs >= FAILURE_BELIEVED_MS)
      this.forget()
    this.#question ??= this.#asked()
    const question = this.#question
    question.waiting += 1
    try {
      return await orAborted(question.result, signal)
    } finally {
      question.waiting -= 1
      if (question.isOpen && question.waiting === 0) this.#abandon(question, signal.reason)
    }
  }

  /** Makes the next call send the request again. */
  forget(): void {
    this.#question = undefined
    this.#failedAtMs = undefined
  }

  #asked(): Question<T> {
    const controller = new AbortController()
    const result = this.#ask(controller.signal)
    const question: Question<T> = {
      result,
      abandon: (reason) => controller.abort(reason),
      askedAtMs: this.#nowMs(),
      isOpen: true,
      waiting: 0,
    }
    const close = (): void => {
      question.isOpen = false
    }
    // All calls may have been aborted by the time the request fails.
    result.then(close, () => {
      close()
      if (this.#question === question) this.#failedAtMs = this.#nowMs()
    })
    return question
  }

  #abandon(question: Question<T>, reason: unknown): void {
    question.abandon(reason)
    const isShort = this.#nowMs() - question.askedAtMs < FAILURE_BELIEVED_MS
    if (isShort && this.#question === question) this.forget()
  }
}

/** The result of `work`, or the reason of `signal` when that aborts first. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let giveUp: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
  }
}
