import { FairQueue, type Lane } from './fairQueue.ts'

/** Resolves in a later turn of the event loop, after everything that others had sent by then was looked at. */
export type GiveWay = () => Promise<void>

interface Waiting extends Lane {
  readonly goOn: () => void
}

/**
 * Turns of the event loop for work that is done in slices. Each turn goes to one slice, however many wait for it: were
 * all resumed in the same turn, twenty long requests would keep the others waiting twenty times as long as one does.
 */
export function loopTurns(): (lane: Lane) => GiveWay {
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
      next.goOn()
      schedule()
    })
  }
  return ({ orgId, keyId }) =>
    () =>
      new Promise((goOn) => {
        waiting.add({ orgId, keyId, goOn })
        schedule()
      })
}
