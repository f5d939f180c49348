import { createHash } from 'node:crypto'

/** Sums are modulo this. */
const SUM_VALUES = 2n ** 64n

/**
 * The services of a region and their generations, as a count and a hash. The hash is a sum over services, so that their
 * order does not matter and the cost of a change does not depend on their number.
 */
export class Inventory {
  readonly #generations = new Map<string, number>()
  #sum = 0n

  /** The number of services, and their hash as 16 hexadecimal digits. */
  get value(): { readonly count: number; readonly hash: string } {
    return { count: this.#generations.size, hash: this.#sum.toString(16).padStart(16, '0') }
  }

  /** Records that `serviceId` runs in `generation`; `undefined` when it does not run. */
  set(serviceId: string, generation: number | undefined): void {
    const before = this.#generations.get(serviceId)
    if (before === generation) return
    const removed = before === undefined ? 0n : hashOf(serviceId, before)
    const added = generation === undefined ? 0n : hashOf(serviceId, generation)
    this.#sum = (this.#sum + SUM_VALUES - removed + added) % SUM_VALUES
    if (generation === undefined) this.#generations.delete(serviceId)
    else this.#generations.set(serviceId, generation)
  }
}

function hashOf(serviceId: string, generation: number): bigint {
  return createHash('sha256').update(`${serviceId}:${generation}`).digest().readBigUInt64BE()
}
