import { isInForce, type Suspension } from '../../state/model/record.ts'
import type { SetContext } from './setContext.ts'

/** The suspensions of a set, as they were last read from its state. */
export class Suspensions {
  readonly #context: Pick<SetContext, 'store' | 'clock'>
  #inForce: readonly Suspension[] = []

  constructor(context: Pick<SetContext, 'store' | 'clock'>) {
    this.#context = context
  }

  /** Throws what the store throws. */
  async read(): Promise<void> {
    const { clock, store } = this.#context
    const nowMs = clock.wallMs()
    this.#inForce = (await store.suspensions()).filter((one) => isInForce(one, nowMs))
  }

  get inForce(): readonly Suspension[] {
    return this.#inForce
  }

  /** Whether one of them is for every service. */
  get isWhole(): boolean {
    return this.#inForce.some(({ scope }) => scope === '*')
  }
}
