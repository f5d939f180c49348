import type { ControllerEvent } from '../controller/status/status.ts'

/** The events of one process of a replica, and when its changes reached the server. Times are milliseconds of the wall clock. */
export interface ProcessHistory {
  readonly events: readonly ControllerEvent[]
  readonly arrivedAtMs: readonly number[]
}

/**
 * How far several processes were from one writer at a time: the most changes of one epoch that began to arrive at the
 * server at or after the first change of any later epoch. A change belongs to the epoch of the last lease that its
 * process had reported as taken when it arrived. One writer at a time is 0; a process that is stopped in the middle
 * may have as many under way as it sends at once. Pure.
 */
export function staleWrites(lives: readonly ProcessHistory[]): number {
  const writes = lives.flatMap((life) =>
    life.arrivedAtMs.map((atMs) => ({ atMs, epoch: epochAt(life, atMs) })),
  )
  const firstAtMs = new Map<number, number>()
  for (const { atMs, epoch } of writes) {
    firstAtMs.set(epoch, Math.min(atMs, firstAtMs.get(epoch) ?? Number.POSITIVE_INFINITY))
  }
  const stale = new Map<number, number>()
  for (const { atMs, epoch } of writes) {
    const isStale = [...firstAtMs].some(([other, otherMs]) => other > epoch && otherMs <= atMs)
    if (isStale) stale.set(epoch, (stale.get(epoch) ?? 0) + 1)
  }
  return Math.max(0, ...stale.values())
}

function epochAt({ events }: ProcessHistory, atMs: number): number {
  const taken = events.filter(({ type, at }) => type === 'LeaseTaken' && Date.parse(at) <= atMs)
  const [, epoch] = /epoch (\d+)/.exec(taken.at(-1)?.message ?? '') ?? []
  if (epoch === undefined) throw new Error('a change was sent without a lease')
  return Number(epoch)
}
