import { isInForce, type Suspension } from '../../state/model/record.ts'
import type { SetContext } from './setContext.ts'

/** The suspensions of a set, cached from its state. */
export class Suspensions {
  #inForce: readonly Suspension[] = []

  /** Updates the cache. Throws errors of the store. */
  async read({ clock, store }: Pick<SetContext, 'store' | 'clock'>): Promise<void> {
    const nowMs = clock.wallMs()
    this.#inForce = (await store.suspensions()).filter((one) => isInForce(one, nowMs))
  }

  get inForce(): readonly Suspension[] {
    return this.#inForce
  }

  /** Whether a suspension covers every service. */
  get isWhole(): boolean {
    return this.#inForce.some(({ scope }) => scope === '*')
  }
}
