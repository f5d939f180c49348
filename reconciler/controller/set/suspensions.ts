import { isInForce, type Suspension } from '../../state/model/record.ts'
import type { SetContext } from './setContext.ts'

/** The suspensions of a set, cached from its state. */
export class Suspensions {
  readonly #context: Pick<SetContext, 'store' | 'clock'>
  #inForce: readonly Suspension[] = []

  constructor(context: Pick<SetContext, 'store' | 'clock'>) {
    this.#context = context
  }

  /** Updates the cache. Throws errors of the store. */
  async read(): Promise<void> {
    const { clock, store } = this.#context
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
