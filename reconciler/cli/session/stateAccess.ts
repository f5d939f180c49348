import { UsageError } from '../../run/failure.ts'
import type { StateReading, StateStore } from '../../state/model/store.ts'
import { openStore, readStore } from '../../state/openStore.ts'
import type { CommandContext } from './context.ts'
import { leaseOf, requireExistingState } from './session.ts'

/** The state that --state names. Throws UsageError when it names none. */
export function requireState({ options }: CommandContext): string {
  if (options.state === undefined)
    throw new UsageError('this command needs --state, with the file or git ref that "pharos apply" was given')
  return options.state
}

/** Runs `command` on the state that is there, to look at it. */
export async function readingState<Result>(
  context: CommandContext,
  command: (store: StateReading) => Promise<Result>,
): Promise<Result> {
  const location = requireState(context)
  await requireExistingState(location, context.env)
  return closingAfter(await readStore(location, context.env), command)
}

/** Runs `command` on the state that is there, without its lease: for what people say about it. */
export async function notingInState<Result>(
  context: CommandContext,
  command: (store: StateStore) => Promise<Result>,
): Promise<Result> {
  const location = requireState(context)
  await requireExistingState(location, context.env)
  return closingAfter(await openStore(location, context.env), command)
}

/** Runs `command` on the state that is there, as the one who may write it. */
export function writingState<Result>(
  context: CommandContext,
  command: (store: StateStore) => Promise<Result>,
): Promise<Result> {
  return notingInState(context, async (store) => {
    const lease = await leaseOf(store, context)
    try {
      return await command(store)
    } finally {
      await lease.release()
    }
  })
}

async function closingAfter<Store extends StateReading, Result>(
  store: Store,
  command: (store: Store) => Promise<Result>,
): Promise<Result> {
  try {
    return await command(store)
  } finally {
    await store.close()
  }
}
