import { ExpectedFailure } from '../../run/failure.ts'

/** The configuration cannot be used on this machine. */
export class ConfigError extends ExpectedFailure {
  override readonly name = 'ConfigError'
  readonly code = 'E_USAGE'
}
