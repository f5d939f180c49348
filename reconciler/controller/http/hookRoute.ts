import { repositoryIdentity } from '../../git/gitUrl.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { HookSettings } from '../config/settings.ts'
import type { WrongRequests } from './addressLimit.ts'
import { isLargeBody } from './bodies.ts'
import { type Push, pushIn } from './push.ts'
import { json, type Route, type RouteAnswer, refusal } from './route.ts'
import { deliveryOf, hasProof, isProven } from './webhookSignature.ts'

/** Largest body of a webhook (bytes): the limit of GitHub. */
const HOOK_BYTES_MAX = 25 * 1024 * 1024
/** Deliveries that are remembered, so that one that is sent again does nothing. */
const DELIVERIES_MAX = 10_000

/** What became of a webhook, for the metric. */
export type HookResult = 'queued' | 'ignored' | 'replayed' | 'refused' | 'limited' | 'failed'

/** A set with the branch that it follows, and the addresses of the repository that has it. */
export interface FollowedBranch {
  readonly name: string
  readonly branch: string
  readonly addresses: readonly string[]
}

/** What the route needs of the controller. */
export interface HookDeps {
  readonly hooks: readonly HookSettings[]
  readonly sets: readonly FollowedBranch[]
  /** Has the set looked at soon, by whichever replica leads. Throws StateError. */
  readonly trigger: (set: string) => Promise<void>
  readonly wrong: WrongRequests
  /** Those that were here; kept by whoever makes the route. */
  readonly deliveries: Set<string>
  readonly onResult: (source: string, result: HookResult) => void
}

/** `POST /hooks/:source`: whoever proves to know the secret may have the repository looked at now. */
export function hookRoute(deps: HookDeps): Route {
  const hookOf = (source: string | undefined): HookSettings | undefined =>
    deps.hooks.find(({ config }) => config.source === source)
  const limited = (source: string | undefined): RouteAnswer => {
    if (source !== undefined) deps.onResult(source, 'limited')
    return refusal(429, 'too many requests', { 'Retry-After': '1' })
  }
  const refused = (source: string, address: string): RouteAnswer => {
    if (!deps.wrong.count(address)) return limited(source)
    deps.onResult(source, 'refused')
    return refusal(401, 'the signature or token is missing or wrong')
  }
  return {
    method: 'POST',
    path: '/hooks/:source',
    bodyBytesMax: HOOK_BYTES_MAX,
    admit: ({ params, headers, address }) => {
      const hook = hookOf(params.source)
      if (hook === undefined)
        return deps.wrong.count(address)
          ? refusal(404, 'there is no such source of webhooks')
          : limited(undefined)
      const { source, kind } = hook.config
      if (!hasProof(kind, headers)) return refused(source, address)
      // Whether it is a right one would show only at its end.
      return isLargeBody(headers) && deps.wrong.areTooMany(address) ? limited(source) : null
    },
    handle: async ({ params, headers, body, address }) => {
      const hook = hookOf(params.source)
      if (hook === undefined) return refusal(404, 'there is no such source of webhooks')
      const { source, kind } = hook.config
      if (!isProven(kind, headers, body, hook.secrets)) return refused(source, address)
      const delivery = deliveryOf(kind, headers)
      if (delivery !== null && !isNew(deps.deliveries, `${source} ${delivery}`)) {
        deps.onResult(source, 'replayed')
        return json(200, { source, queued: [], reason: 'this delivery was here before' })
      }
      const { queued, reason } = matching(deps, hook, pushIn(kind, body))
      try {
        for (const set of queued) await deps.trigger(set)
      } catch (error) {
        if (!(error instanceof StateError)) throw error
        // It counts as new when it is sent again.
        deps.deliveries.delete(`${source} ${delivery}`)
        deps.onResult(source, 'failed')
        return refusal(503, `the replica that leads could not be told: ${error.message}`, {
          'Retry-After': '10',
        })
      }
      deps.onResult(source, queued.length === 0 ? 'ignored' : 'queued')
      if (queued.length > 0) return json(202, { source, queued })
      return json(200, { source, queued, reason })
    },
  }
}

function isNew(seen: Set<string>, delivery: string): boolean {
  if (seen.has(delivery)) return false
  seen.add(delivery)
  const [oldest] = seen
  if (seen.size > DELIVERIES_MAX && oldest !== undefined) seen.delete(oldest)
  return true
}

/** The sets that follow what was pushed to, and why there is none. */
function matching(
  { sets }: HookDeps,
  { config }: HookSettings,
  { branches, repositories }: Push,
): { readonly queued: readonly string[]; readonly reason: string } {
  const following = sets
    .filter(({ name }) => config.sets === undefined || config.sets.includes(name))
    .filter(({ branch }) => branches === 'all' || branches.includes(branch))
  if (following.length === 0) return { queued: [], reason: 'no set follows a branch that was pushed to' }
  const queued = following.filter(({ addresses }) => isAmong(repositories, addresses)).map(({ name }) => name)
  const reason =
    'no set that follows this branch has this repository: name its address in "url" or "aliases" of the set'
  return { queued, reason }
}

/** Whether one of `addresses` is of the repository; a webhook that names none may be of any. */
function isAmong(repositories: Push['repositories'], addresses: readonly string[]): boolean {
  return (
    repositories.length === 0 ||
    addresses.some((address) => repositories.includes(repositoryIdentity(address) ?? ''))
  )
}
