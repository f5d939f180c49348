import { availableParallelism } from 'node:os'
import {
  hashPassword,
  isOutdated,
  isPasswordOf,
  type PasswordCost,
  unusablePasswordHash,
} from '../../domain/accounts/passwordHash.ts'
import { ConcurrencyLimit } from '../limits/concurrencyLimit.ts'

/** Concurrent hashes, each with 32 MiB and a thread. Only one on two processors, which leaves the other to requests. */
const RUNNING_MAX = availableParallelism() > 2 ? 2 : 1
/** Hashes running or waiting. */
const PLACES = 10
/** Hashes of one account, running or waiting: a correct password is not throttled and could take all places. */
const ACCOUNT_MAX = 3

/** Thrown when too many passwords are being checked; the client may try again after `retryAfterS` seconds. */
export class PasswordsBusyError extends Error {
  readonly retryAfterS = 2

  constructor() {
    super('too many passwords are being checked')
  }
}

/** Computes password hashes, a few at a time: a flood of sign-ins must not exhaust memory and threads. */
export class PasswordHasher {
  readonly #randomBytes: (size: number) => Buffer
  readonly #cost: PasswordCost
  readonly #waiting: (() => void)[] = []
  readonly #ofAccounts = new ConcurrencyLimit(ACCOUNT_MAX)
  #running = 0

  constructor(randomBytes: (size: number) => Buffer, cost: PasswordCost) {
    this.#randomBytes = randomBytes
    this.#cost = cost
  }

  /** The stored form of a new password. Rejects with PasswordsBusyError. */
  hash(password: string): Promise<string> {
    return this.#run(() => hashPassword(password, this.#randomBytes, this.#cost))
  }

  /** Whether `stored` should be replaced at the next sign-in. */
  isOutdated(stored: string): boolean {
    return isOutdated(stored, this.#cost)
  }

  /**
   * Whether `stored` is the hash of `password`. `account` names the account for its limit. An unknown account, with
   * `stored` `null`, takes equally long. Rejects with PasswordsBusyError.
   */
  async matches(password: string, stored: string | null, account: string): Promise<boolean> {
    const isSame = await this.#ofAccounts.run(account, () =>
      this.#run(() => isPasswordOf(password, stored ?? unusablePasswordHash(this.#cost))),
    )
    if (isSame === undefined) throw new PasswordsBusyError()
    return isSame && stored !== null
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= PLACES - RUNNING_MAX) throw new PasswordsBusyError()
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else {
      this.#running += 1
    }
    try {
      return await work()
    } finally {
      // Hands the place to the longest waiting hash.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
