import { FairQueue, type Lane } from './fairQueue.ts'

/** Resolves in a later turn of the event loop, after all input received by then has been handled. */
export type YieldTurn = () => Promise<void>

interface Waiting extends Lane {
  readonly resume: () => void
}

/**
 * Turns of the event loop for work done in slices. Each turn runs only one of the waiting slices: if all resumed in the
 * same turn, twenty long requests would delay the others twenty times as long as one.
 */
export function eventLoopTurns(): (lane: Lane) => YieldTurn {
  const waiting = new FairQueue<Waiting>()
  let isScheduled = false
  const schedule = (): void => {
    if (isScheduled || waiting.isEmpty) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const next = waiting.first()
      if (next === undefined) return
      waiting.remove(next)
      next.resume()
      schedule()
    })
  }
  return ({ orgId, keyId }) =>
    () =>
      new Promise((resume) => {
        waiting.add({ orgId, keyId, resume })
        schedule()
      })
}
