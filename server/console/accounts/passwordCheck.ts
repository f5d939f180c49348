import { PasswordsBusyError } from '../credentials/passwordHasher.ts'
import type { Attempt, PasswordThrottle } from '../credentials/passwordThrottle.ts'

/** Why a password was refused, for a form that is shown again with all other input. */
export interface PasswordRefusal {
  /** 422 for a wrong password, 429 after too many, 503 when too many others are being checked. */
  readonly status: 422 | 429 | 503
  /** A sentence for the field. */
  readonly fault: string
  readonly retryAfterS?: number
}

/** The refusal of the password that `check` checks, with `wrong` for a wrong one; `undefined` for a correct one. */
export async function passwordRefusal(
  throttle: PasswordThrottle,
  attempt: Attempt,
  { check, wrong }: { readonly check: () => Promise<boolean>; readonly wrong: string },
): Promise<PasswordRefusal | undefined> {
  try {
    const result = await throttle.attempt(attempt, check)
    if (result.kind === 'right') return undefined
    return result.kind === 'wrong' ? { status: 422, fault: wrong } : tooMany(result.waitS)
  } catch (error) {
    if (!(error instanceof PasswordsBusyError)) throw error
    const fault = 'Too many people are signing in. Try again in a moment.'
    return { status: 503, fault, retryAfterS: error.retryAfterS }
  }
}

function tooMany(waitS: number): PasswordRefusal {
  const wait = waitS === 1 ? '1 second' : `${waitS} seconds`
  return {
    status: 429,
    fault: `There were too many wrong passwords. Try again in ${wait}.`,
    retryAfterS: waitS,
  }
}
