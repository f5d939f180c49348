import { ResultsBusyError } from './resultsBusyError.ts'
import type { FromThread, ToThread } from './threadMessages.ts'

interface Waiting {
  readonly resolve: (message: FromThread) => void
  readonly reject: (error: Error) => void
}

/** Requests to a thread, by their ids. */
export class ThreadRequests {
  readonly #waiting = new Map<number, Waiting>()
  readonly #countMax: number
  #nextId = 1

  /** At most `countMax` wait at a time. */
  constructor(countMax: number) {
    this.#countMax = countMax
  }

  get count(): number {
    return this.#waiting.size
  }

  /** Posts a request; resolves to its reply. Rejects with ResultsBusyError when too many wait, or the thread ends. */
  ask(message: (id: number) => ToThread, post: (message: ToThread) => void): Promise<FromThread> {
    if (this.#waiting.size >= this.#countMax) {
      return Promise.reject(new ResultsBusyError('too many requests wait for the results'))
    }
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      post(message(id))
    })
  }

  /** Settles the request of a reply. */
  settle(message: Extract<FromThread, { readonly id: number }>): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    waiting?.resolve(message)
  }

  /** Rejects all waiting requests, because the thread has ended. */
  end(): void {
    for (const { reject } of this.#waiting.values()) reject(new ResultsBusyError('the results thread ended'))
    this.#waiting.clear()
  }
}
