import type { ActionResult, ApiDeps } from './http/apiRoutes.ts'
import type { SetLoop } from './set/setLoop.ts'
import type { Announce } from './view/eventsOf.ts'

/** The parts of a set that actions use. */
export interface ActingSet {
  readonly loop: SetLoop
  /** The digest that waits for approval; null for none. */
  readonly pendingDigest: () => string | null
}

/** The actions of the routes below /api. */
export function actionsOn(
  sets: readonly ActingSet[],
  announce: Announce,
): Pick<ApiDeps, 'run' | 'approve' | 'suspend' | 'resume' | 'acknowledgeHistory'> {
  const on = async (name: string, act: (set: ActingSet) => Promise<ActionResult>): Promise<ActionResult> => {
    const set = sets.find(({ loop }) => loop.name === name)
    if (set !== undefined) return act(set)
    const names = sets.map(({ loop }) => loop.name).join(', ')
    return { status: 404, error: `no such set: the sets are ${names}` }
  }
  return {
    run: (name) =>
      on(name, async (set) => {
        await set.loop.trigger('api')
        return { done: { set: name, queued: true } }
      }),
    approve: async (digest, actor) => {
      const set = sets.find(({ pendingDigest }) => pendingDigest() === digest)
      // Only the leader knows the pending digests.
      const followed = sets.find(isFollowed)
      if (set === undefined && followed !== undefined) return elsewhere(followed)
      if (set === undefined)
        return { status: 404, error: 'no pending changes have this digest: they may have changed since' }
      await set.loop.context.store.approve({ digest, actor, at: nowOf(set) })
      announce(set.loop.name, { type: 'Approved', severity: 'info', message: `${actor} approved ${digest}` })
      await set.loop.trigger('api')
      return { done: { set: set.loop.name, digest, queued: true } }
    },
    suspend: (name, reason, actor, forMs) =>
      on(name, async (set) => {
        const since = nowOf(set)
        const until = forMs === null ? null : new Date(set.loop.context.clock.wallMs() + forMs).toISOString()
        await set.loop.context.store.suspend({ scope: WHOLE_SET, reason, actor, since, until })
        const message = `${actor} suspended the set: ${reason}`
        announce(name, { type: 'Suspended', severity: 'warning', message })
        await set.loop.suspensionsChanged()
        return { done: { set: name, suspended: true, until } }
      }),
    resume: (name, actor) =>
      on(name, async (set) => {
        if (!(await set.loop.context.store.resume(WHOLE_SET)))
          return { status: 409, error: 'the set is not suspended' }
        announce(name, { type: 'Resumed', severity: 'info', message: `${actor} resumed the set` })
        await set.loop.suspensionsChanged()
        return { done: { set: name, suspended: false } }
      }),
    acknowledgeHistory: (name, actor) =>
      on(name, async (set) => (isFollowed(set) ? elsewhere(set) : acknowledge(set, actor, announce))),
  }
}

/** Accepts the rewritten history of the branch. */
async function acknowledge(set: ActingSet, actor: string, announce: Announce): Promise<ActionResult> {
  const source = set.loop.facts().report?.source
  const head = source?.accepted?.loaded.commit.sha
  if (source?.isRewritten !== true || head === undefined)
    return { status: 409, error: 'the history of the branch was not rewritten' }
  await set.loop.context.store.acknowledgeHistory({ commitSha: head, actor, at: nowOf(set) })
  announce(set.loop.name, {
    type: 'HistoryAcknowledged',
    severity: 'info',
    message: `${actor} acknowledged the history that ends with ${head}`,
  })
  await set.loop.trigger('api')
  return { done: { set: set.loop.name, commit: head, queued: true } }
}

/** The scope of a suspension of every service. */
const WHOLE_SET = '*'

function isFollowed({ loop }: ActingSet): boolean {
  return loop.facts().role === 'follower'
}

function elsewhere({ loop }: ActingSet): ActionResult {
  const holder = loop.facts().leaseHolder ?? 'another replica'
  return { status: 409, error: `${holder} leads the set ${loop.name}: send the request there` }
}

function nowOf({ loop }: ActingSet): string {
  return new Date(loop.context.clock.wallMs()).toISOString()
}
