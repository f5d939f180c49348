import type { Logger } from 'pino'
import type { StoredTransition } from '../results/threadMessages.ts'
import type { MonitoringStore } from '../store/store.ts'

/** What transitions are applied with. */
export interface TransitionParts {
  readonly store: Pick<MonitoringStore, 'appliedTransition' | 'applyTransition'>
  readonly log: Logger
  /** The transitions behind a sequence, in order; none only when there are no more. */
  readonly read: (after: number) => Promise<readonly StoredTransition[]>
}

/** The applying of transitions. */
export interface Applying {
  /** Applies what a file of results holds. */
  readonly apply: (resultsFile: string) => void
  /** Resolves when nothing is under way. */
  readonly settled: () => Promise<void>
}

/**
 * Applies the transitions of files of results, in their order. Each is marked as
 * applied in one transaction with its effect: a crash repeats the hand-over, never the effect.
 */
export function applyTransitions({ store, log, read }: TransitionParts): Applying {
  let underWay: Promise<void> = Promise.resolve()

  async function applyAll(resultsFile: string): Promise<void> {
    let sequence = await store.appliedTransition(resultsFile)
    for (;;) {
      const transitions = await read(sequence)
      const last = transitions.at(-1)
      if (last === undefined) return
      for (const { serviceId, atS, body } of transitions) {
        log.info(
          { service: serviceId, at: new Date(atS * 1_000), ...JSON.parse(body) },
          'a service changed its state',
        )
      }
      sequence = last.sequence
      await store.applyTransition(resultsFile, sequence)
    }
  }

  return {
    apply: (resultsFile) => {
      underWay = underWay
        .then(() => applyAll(resultsFile))
        // The next transition, or the next start, takes up what is left.
        .catch((error: unknown) => log.warn({ err: error }, 'changes of states could not be applied yet'))
    },
    settled: () => underWay,
  }
}
