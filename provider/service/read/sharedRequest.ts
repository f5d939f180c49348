/**
 * How long a failure stands for the answer (milliseconds): a walk over a thousand services fails once then, instead of
 * waiting as often for a server that is not there. An apply that goes on for longer asks again.
 */
export const FAILURE_BELIEVED_MS = 30_000

/** One asking of the question. */
interface Question<T> {
  readonly answer: Promise<T>
  /** Ends the request. */
  readonly abandon: (reason: unknown) => void
  readonly askedAtMs: number
  /** Whether there is neither an answer nor a failure yet. */
  isOpen: boolean
  /** Calls that wait for the answer. */
  waiting: number
}

/** A question to the API that many calls have, and that is asked once for all of them, while any of them waits. */
export class SharedRequest<T> {
  readonly #ask: (signal: AbortSignal) => Promise<T>
  readonly #nowMs: () => number
  #question: Question<T> | undefined
  #failedAtMs: number | undefined

  /** `ask` ends when its signal aborts. `nowMs` is a clock that only runs forward (milliseconds). */
  constructor(ask: (signal: AbortSignal) => Promise<T>, nowMs: () => number = () => performance.now()) {
    this.#ask = ask
    this.#nowMs = nowMs
  }

  /** Whether it was asked, and not forgotten since. */
  get isAsked(): boolean {
    return this.#question !== undefined
  }

  /**
   * The answer: throws what asking threw, and the reason of `signal` when that aborts first. The last call that gives up
   * ends the request. A question that was open for as long as a failure is believed has failed then: the calls that
   * come next need not wait as long as the ones before.
   */
  async answer(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#failedAtMs !== undefined && this.#nowMs() - this.#failedAtMs >= FAILURE_BELIEVED_MS)
      this.forget()
    this.#question ??= this.#asked()
    const question = this.#question
    question.waiting += 1
    try {
      return await orAborted(question.answer, signal)
    } finally {
      question.waiting -= 1
      if (question.isOpen && question.waiting === 0) this.#abandon(question, signal.reason)
    }
  }

  /** The next call asks anew. */
  forget(): void {
    this.#question = undefined
    this.#failedAtMs = undefined
  }

  #asked(): Question<T> {
    const controller = new AbortController()
    const answer = this.#ask(controller.signal)
    const question: Question<T> = {
      answer,
      abandon: (reason) => controller.abort(reason),
      askedAtMs: this.#nowMs(),
      isOpen: true,
      waiting: 0,
    }
    const close = (): void => {
      question.isOpen = false
    }
    // Every call may have given up by the time it fails.
    answer.then(close, () => {
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

/** What `work` comes to, or the reason of `signal` when that aborts first. */
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
