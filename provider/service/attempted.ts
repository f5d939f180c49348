import { explained } from './explain.ts'
import { type TimeLimit, withinTime } from './timeouts.ts'

/** The task for `explained`, and its time limit. */
interface Attempt extends TimeLimit {
  readonly task: string
}

/** Runs `work`, whose signal aborts with `signal` and at the time limit. Failures are explained. */
export function attempted<T>(
  { task, ...limit }: Attempt,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return explained(task, () => withinTime(limit, signal, work))
}
