/** The state cannot be used. The message says why and what to do. */
export class StateError extends Error {
  override readonly name = 'StateError'
  readonly reason: 'unusable' | 'held'

  constructor(message: string, reason: 'unusable' | 'held' = 'unusable', options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
