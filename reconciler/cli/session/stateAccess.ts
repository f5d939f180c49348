import { UsageError } from '../../run/failure.ts'
import type { StateReading, StateStore } from '../../state/model/store.ts'
import { openStore, readStore } from '../../state/openStore.ts'
import type { CommandContext } from './context.ts'
import { closingAfter, requireExistingState, withLease } from './session.ts'

/** The location in --state. Throws UsageError without it. */
export function requireState({ options }: CommandContext): string {
  if (options.state === undefined)
    throw new UsageError('this command needs --state, with the location used for "pharos apply"')
  return options.state
}

/** Runs `command` on an existing state, for reading. */
export async function readingState<Result>(
  context: CommandContext,
  command: (store: StateReading) => Promise<Result>,
): Promise<Result> {
  const location = requireState(context)
  await requireExistingState(location, context.env)
  return closingAfter(await readStore(location, context.env), command)
}

/** Runs `command` on an existing state without its lease, to record approvals and suspensions. */
export async function writingWithoutLease<Result>(
  context: CommandContext,
  command: (store: StateStore) => Promise<Result>,
): Promise<Result> {
  const location = requireState(context)
  await requireExistingState(location, context.env)
  return closingAfter(await openStore(location, context.env), command)
}

/** Runs `command` on an existing state while holding its lease. */
export function writingState<Result>(
  context: CommandContext,
  command: (store: StateStore) => Promise<Result>,
): Promise<Result> {
  return writingWithoutLease(context, (store) => withLease(store, context, () => command(store)))
}
