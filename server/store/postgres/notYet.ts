import { ApiError } from '../../../api/contract/apiError.ts'
import type { Store } from '../store.ts'

/** Methods of a store that this one does not have yet, by what they are part of. */
const MISSING = {
  monitoring: [
    'definitionsAfter',
    'definitionOf',
    'newestCommand',
    'commandsForgottenUpTo',
    'changedServices',
    'newestQuietChange',
    'quietChanges',
    'historyPolicy',
    'endpointNumbers',
    'numberEndpoints',
    'appliedTransition',
    'applyTransition',
    'noteAgents',
  ],
} as const satisfies Record<string, readonly (keyof Store)[]>

type Missing = (typeof MISSING)[keyof typeof MISSING][number]

/** What is refused, for `part` of the program. Pure. */
export function notOnPostgres(part: string): ApiError {
  return new ApiError('unavailable', `${part}: not available on PostgreSQL yet, use --data-dir`)
}

/** The missing methods: each throws, because an empty answer would pass for a fact. */
export function missingMethods(): Pick<Store, Missing> {
  const methods = Object.entries(MISSING).flatMap(([part, names]) =>
    names.map((name) => {
      const refuse = async (): Promise<never> => {
        throw notOnPostgres(part)
      }
      return [name, refuse]
    }),
  )
  // True because each name of MISSING has its method.
  return Object.fromEntries(methods) as Pick<Store, Missing>
}
