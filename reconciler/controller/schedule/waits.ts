import type { ControllerClock } from './clock.ts'

/** Waits that can be ended together. */
export class Waits {
  readonly #after: ControllerClock['after']
  readonly #waiters = new Set<() => void>()
  #isOver = false

  constructor({ after }: Pick<ControllerClock, 'after'>) {
    this.#after = after
  }

  /** Resolves after `delayMs`, when `wake` is called, or at once after `end`. */
  wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter = (): void => {
        cancel()
        this.#waiters.delete(waiter)
        resolve()
      }
      const cancel = this.#after(Math.max(0, delayMs), waiter)
      this.#waiters.add(waiter)
      if (this.#isOver) waiter()
    })
  }

  /** Ends all current waits. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Ends all current and later waits. */
  end(): void {
    this.#isOver = true
    this.wake()
  }
}

/** Calls `run` every `periodMs` until the function that it returns is called. */
export function every(after: ControllerClock['after'], periodMs: number, run: () => void): () => void {
  if (!Number.isFinite(periodMs)) return () => {}
  let cancel = (): void => {}
  const arm = (): void => {
    cancel = after(periodMs, () => {
      arm()
      run()
    })
  }
  arm()
  return () => cancel()
}
