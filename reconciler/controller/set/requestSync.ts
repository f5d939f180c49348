import type { StateStore } from '../../state/model/store.ts'

/** What a wish for a look at the repository is called in the state: an approval that the leader uses up. */
const LOOK = 'look'

/**
 * Asks whoever holds the lease of `store` to have a look at the repository: it hears of it with its next sign of life.
 * One wish at a time is in the state. Throws StateError.
 */
export async function askForLook(store: StateStore, actor: string, at: string): Promise<void> {
  await store.approve({ digest: LOOK, actor, at })
}

/** Whether somebody asked for a look since this was last called. For the holder of the lease. Throws StateError. */
export async function wasAskedForLook(store: StateStore): Promise<boolean> {
  const waiting = await store.approvals()
  return waiting.some(({ digest }) => digest === LOOK) && store.useApproval(LOOK)
}
