import type { ControllerClock } from '../../controller/schedule/clock.ts'
import { Waits } from '../../controller/schedule/waits.ts'

/** Maximum delay of the program's end by pending messages (milliseconds). */
const CLOSE_MS = 5_000

/** Waits between attempts until the program ends. */
export class RetryTimer {
  readonly #after: ControllerClock['after']
  readonly #waits: Waits
  readonly #abort = new AbortController()

  constructor(clock: ControllerClock) {
    this.#after = clock.after
    this.#waits = new Waits(clock)
  }

  /** Whether the program is ending, so that nothing is retried. */
  get isClosing(): boolean {
    return this.#waits.isOver
  }

  /** Aborts requests when the time is up. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves after `ms` milliseconds, or when the program ends. */
  pause(ms: number): Promise<void> {
    return this.#waits.wait(ms)
  }

  /** Resolves when `work` has ended, within a few seconds. */
  async close(work: Promise<void> | null): Promise<void> {
    this.#waits.end()
    const cancel = this.#after(CLOSE_MS, () => this.#abort.abort())
    await work
    cancel()
  }
}
