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
