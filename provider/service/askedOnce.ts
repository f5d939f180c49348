/**
 * How long a failure stands for the answer (milliseconds): a walk over a thousand services fails once then, instead of
 * waiting as often for a server that is not there. An apply that goes on for longer asks again.
 */
export const FAILURE_BELIEVED_MS = 30_000

/** A question to the API that many have, and that is asked once for all of them. */
export class AskedOnce<T> {
  readonly #ask: () => Promise<T>
  readonly #nowMs: () => number
  #answer: Promise<T> | undefined
  #failedAtMs: number | undefined

  /** `nowMs` is a clock that only runs forward (milliseconds). */
  constructor(ask: () => Promise<T>, nowMs: () => number = () => performance.now()) {
    this.#ask = ask
    this.#nowMs = nowMs
  }

  /** Whether it was asked, and not forgotten since. */
  get isAsked(): boolean {
    return this.#answer !== undefined
  }

  /** The answer: throws what asking threw, and the signal's reason when whoever wants it gives up first. */
  answer(signal?: AbortSignal): Promise<T> {
    if (this.#failedAtMs !== undefined && this.#nowMs() - this.#failedAtMs >= FAILURE_BELIEVED_MS)
      this.forget()
    this.#answer ??= this.#asked()
    return signal === undefined ? this.#answer : whileWanted(this.#answer, signal)
  }

  /** The next one who wants to know asks anew. */
  forget(): void {
    this.#answer = undefined
    this.#failedAtMs = undefined
  }

  #asked(): Promise<T> {
    const answer = this.#ask().catch((error: unknown) => {
      if (this.#answer === answer) this.#failedAtMs = this.#nowMs()
      throw error
    })
    return answer
  }
}

/** What `work` comes to. It goes on for the others who wait for it when `signal` says that this one gives up. */
async function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let giveUp: (() => void) | undefined
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
  })
  try {
    return await Promise.race([work, givenUp])
  } finally {
    if (giveUp !== undefined) signal.removeEventListener('abort', giveUp)
  }
}
