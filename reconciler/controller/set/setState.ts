import { StateError } from '../../state/model/stateError.ts'
import type { PreparedSet } from './openSet.ts'
import { Ending, type SetContext } from './setContext.ts'

/**
 * Time after a stop in which the state can still be written (milliseconds). Service managers are configured to wait a
 * minute.
 */
const STOP_MS_MAX = 45_000

/** The state of a set, which is opened once, and whose calls of git end some time after a stop. */
export class SetState {
  readonly #set: PreparedSet
  readonly #calls = new AbortController()
  #opened: SetContext | null = null
  #cancelDeadline = (): void => {}

  constructor(set: PreparedSet) {
    this.#set = set
  }

  /** Dependencies of the set; null until the state is open. */
  get context(): SetContext | null {
    return this.#opened
  }

  /** Throws StateError, and Ending after `stop`. */
  async open(): Promise<void> {
    this.#opened = await this.#set.openState(this.#calls.signal)
  }

  /** Ends the opening at once. An open state can still be written until `end`, for at most STOP_MS_MAX. */
  stop(): void {
    if (this.#opened === null) this.#calls.abort(new Ending())
    else
      this.#cancelDeadline = this.#set.parts.clock.after(STOP_MS_MAX, () => this.#calls.abort(notReleased()))
  }

  /** Nothing is written any more. */
  end(): void {
    this.#cancelDeadline()
  }
}

function notReleased(): StateError {
  return new StateError(
    `the lease was not released, because the state could not be written within ${STOP_MS_MAX / 1_000} s: it expires after leaseTtl`,
  )
}
