import { withExplainedFailure } from './explain.ts'
import { type TimeLimit, withinTime } from './timeouts.ts'

/** The task for `explained`, and its time limit. */
interface Task extends TimeLimit {
  readonly task: string
}

/** Runs `work`, whose signal aborts with `signal` and at the time limit. Failures are explained. */
export function runTask<T>(
  { task, ...limit }: Task,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withExplainedFailure(task, () => withinTime(limit, signal, work))
}
