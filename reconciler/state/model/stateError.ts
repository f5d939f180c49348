import { EXIT } from '../../run/exitCode.ts'
import { ExpectedFailure } from '../../run/failure.ts'

/**
 * Why a state cannot be used: `held` another one has the lease, `lost` another one took it over from us, `gone` its
 * file was taken away while it was in use, `unusable` everything else.
 */
export type StateProblem = 'unusable' | 'held' | 'lost' | 'gone'

/** The state cannot be used. The message says why and what to do. */
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

/** What a write throws whose lease is no longer held. */
export function leaseLost(): StateError {
  return new StateError('another run took over this state: this one stops, nothing more is sent', 'lost')
}

/** What everything throws whose state, or a part of it, `what`, is no longer what was opened. */
export function stateGone(what: string): StateError {
  return new StateError(
    `${what} was removed or replaced while it was in use, so nothing more is sent: put it back as it was, or stop this program and start it with the state that is to count`,
    'gone',
  )
}

/** Why `source`, of `version`, cannot be used where `current` is expected, and what to do. Pure. */
export function otherVersionText(source: string, version: number, current: number): string {
  return version > current
    ? `${source} was written by a newer pharos: use that version or a later one`
    : `${source} was written by a pharos from before the first release: start anew with "pharos state adopt apply"`
}
