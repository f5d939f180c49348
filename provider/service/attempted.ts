import { explained } from './explain.ts'
import { type TimeLimit, withinTime } from './timeouts.ts'

/** What is done, as `explained` has it, and how long it may take. */
interface Attempt extends TimeLimit {
  readonly task: string
}

/** The result of `work`, whose signal aborts with `signal` and when its time is over; a failure is explained. */
export function attempted<T>(
  { task, ...limit }: Attempt,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return explained(task, () => withinTime(limit, signal, work))
}
