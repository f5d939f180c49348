import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { type Connection, connected } from './connection.ts'
import { withExplainedFailure } from './explain.ts'
import type { Session } from './session.ts'
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

/** Runs `work` likewise, after a check that the key belongs to the organisation that the configuration expects. */
export function runInSession<T>(
  task: Task,
  { client, signal }: Pick<ConfiguredContext<Connection>, 'client' | 'signal'>,
  work: (session: Session, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return runTask(task, signal, async (wanted) => {
    const session = connected(client)
    await session.checkExpectedOrg(wanted)
    return work(session, wanted)
  })
}
