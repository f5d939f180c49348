/**
 * Why a state cannot be used: `held` another one has the lease, `lost` another one took it over from us,
 * `unusable` everything else.
 */
export type StateProblem = 'unusable' | 'held' | 'lost'

/** The state cannot be used. The message says why and what to do. */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly reason: StateProblem

  constructor(message: string, reason: StateProblem = 'unusable', options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** What a write throws whose lease is no longer held. */
export function leaseLost(): StateError {
  return new StateError('another run took over this state: this one stops, nothing more is sent', 'lost')
}
