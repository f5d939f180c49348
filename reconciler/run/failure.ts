import { EXIT } from './exitCode.ts'

/** Why a command could not run, stable for scripts. Each has an entry in docs/errors.md. */
export const FAILURE_CODES = [
  'E_USAGE',
  'E_NETWORK',
  'E_ANSWER',
  'E_TIMEOUT',
  'E_API',
  'E_READ_ONLY_KEY',
  'E_ORG_MISMATCH',
  'E_STATE',
  'E_PLAN_STALE',
  'E_FILE',
  'E_INTERRUPTED',
  'E_INTERNAL',
] as const
export type FailureCode = (typeof FAILURE_CODES)[number]

/** Why a command could not run. */
export interface Failure {
  readonly code: FailureCode
  readonly message: string
  readonly exitCode: number
}

/** A failure with a code. Its message tells the user what is wrong and what to do. */
export abstract class ExpectedFailure extends Error {
  abstract readonly code: FailureCode
  readonly exitCode: number = EXIT.couldNotRun
}

/** The command line or the environment is invalid. */
export class UsageError extends ExpectedFailure {
  override readonly name = 'UsageError'
  readonly code = 'E_USAGE'
}

/** The user or the system stopped the program early; `state` is the result. */
export class Interrupted extends ExpectedFailure {
  override readonly name = 'Interrupted'
  readonly code = 'E_INTERRUPTED'
  override readonly exitCode: number

  constructor(exitCode: number, state = 'no service was changed') {
    super(`interrupted: ${state}`)
    this.exitCode = exitCode
  }
}
