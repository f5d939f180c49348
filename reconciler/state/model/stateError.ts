import { EXIT } from '../../run/exitCode.ts'
import { ExpectedFailure } from '../../run/failure.ts'

/**
 * Why a state cannot be used. `held`: another holder has the lease; `lost`: another holder took it over; `gone`: the state was
 * removed or replaced while in use; `unusable`: any other reason.
 */
export type StateProblem = 'unusable' | 'held' | 'lost' | 'gone'

/** The state cannot be used. */
export class StateError extends ExpectedFailure {
  override readonly name = 'StateError'
  readonly code = 'E_STATE'
  readonly reason: StateProblem
  override readonly exitCode: number

  constructor(message: string, reason: StateProblem = 'unusable', options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
    this.exitCode = reason === 'held' || reason === 'lost' ? EXIT.stateHeld : EXIT.couldNotRun
  }
}

/** The error of a write without the lease. */
export function leaseLost(): StateError {
  return new StateError('another run took over this state: this run stops and sends no more requests', 'lost')
}

/** The error of any use of a state whose part `what` was removed or replaced. */
export function stateGone(what: string): StateError {
  return new StateError(
    `${what} was removed or replaced while it was in use, so no more requests are sent: restore it, or restart this program with the right state`,
    'gone',
  )
}

/** The message about `source`, which has `version` instead of `current`. Pure. */
export function otherVersionText(source: string, version: number, current: number): string {
  return version > current
    ? `${source} was written by a newer pharos: use that version or a later one`
    : `${source} was written by a version of pharos before the first release: start again with "pharos state adopt apply"`
}
