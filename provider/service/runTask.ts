import type { ConfiguredContext } from '../protocol/authoring/context.ts'
import { type Connection, connected } from './connection.ts'
import { type Task, withExplainedFailure } from './explain.ts'
import type { Session } from './session.ts'
import { type TimeLimit, withinTime } from './timeouts.ts'

/** Runs `work`, whose signal aborts with `signal` and at the time limit. Failures are explained. */
export function runTask<T>(
  limit: Task & TimeLimit,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withExplainedFailure(limit, () => withinTime(limit, signal, work))
}

/** Runs `work` likewise, after a check that the key belongs to the organisation that the configuration expects. */
export function runInSession<T>(
  limit: Task & TimeLimit,
  { client, signal }: Pick<ConfiguredContext<Connection>, 'client' | 'signal'>,
  work: (session: Session, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return runTask(limit, signal, async (wanted) => {
    const session = connected(client)
    await session.checkExpectedOrg(wanted)
    return work(session, wanted)
  })
}
