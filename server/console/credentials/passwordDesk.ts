import { hashPassword, isPasswordOf, NO_PASSWORD } from '../../domain/accounts/passwordHash.ts'

/** Hashes computed at a time, each with 32 MiB and a thread. */
const RUNNING_MAX = 2
/** Hashes that wait. */
const WAITING_MAX = 8

/** Thrown when too many passwords are being checked; the client may try again after `retryAfterS` seconds. */
export class PasswordsBusyError extends Error {
  readonly retryAfterS = 2

  constructor() {
    super('too many passwords are being checked')
  }
}

/** Computes password hashes, a few at a time: a flood of sign-ins must leave memory and threads to the rest. */
export class PasswordDesk {
  readonly #randomBytes: (size: number) => Buffer
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(randomBytes: (size: number) => Buffer) {
    this.#randomBytes = randomBytes
  }

  /** The stored form of a new password. Rejects with PasswordsBusyError. */
  hash(password: string): Promise<string> {
    return this.#run(() => hashPassword(password, this.#randomBytes))
  }

  /** Whether `stored` is of `password`; `null`, for an unknown account, takes as long. Rejects with PasswordsBusyError. */
  matches(password: string, stored: string | null): Promise<boolean> {
    return this.#run(async () => {
      const isSame = await isPasswordOf(password, stored ?? NO_PASSWORD)
      return isSame && stored !== null
    })
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw new PasswordsBusyError()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      // The place goes to the one that waits longest.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
