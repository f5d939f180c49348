import type { FastifyInstance } from 'fastify'
import { repositoryIdentity } from '../../git/gitUrl.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { HookSettings } from '../config/settings.ts'
import type { WrongRequests } from './addressLimit.ts'
import { isLargeBody } from './largeBodies.ts'
import { type Push, pushIn } from './push.ts'
import { Refusal, tooManyRequests } from './refusal.ts'
import { deliveryOf, hasSignature, isSigned } from './webhookSignature.ts'

/** Largest body of a webhook (bytes): the limit of GitHub. */
const HOOK_BYTES_MAX = 25 * 1024 * 1024
/** Maximum number of recorded ids of deliveries. A delivery with a recorded id is ignored. */
const DELIVERIES_MAX = 10_000

/** The result of a webhook, for the metric. */
export type HookResult = 'queued' | 'ignored' | 'replayed' | 'refused' | 'limited' | 'failed'

/** A set with its branch and the addresses of its repository. */
export interface FollowedBranch {
  readonly name: string
  readonly branch: string
  readonly addresses: readonly string[]
}

/** The parts of the controller that the route uses. */
export interface HookDeps {
  readonly hooks: readonly HookSettings[]
  readonly sets: readonly FollowedBranch[]
  /** Requests a run of the set, also when another replica leads it. Throws StateError when the state cannot be written. */
  readonly trigger: (set: string) => Promise<void>
  readonly wrong: WrongRequests
  readonly onResult: (source: string, result: HookResult) => void
}

/** The response to the sender: the sets that will be synced, or why there are none. */
interface HookResponse {
  readonly source: string
  readonly queued: readonly string[]
  readonly reason?: string
}

/** Adds `POST /hooks/:source`: a sender with the secret requests a sync. */
export function addHookRoute(app: FastifyInstance, deps: HookDeps): void {
  const { hooks, wrong, onResult } = deps
  const deliveries = new Set<string>()
  const hookOf = (source: string): HookSettings | undefined => hooks.find((hook) => hook.source === source)
  const limited = (source: string): Refusal => {
    onResult(source, 'limited')
    return tooManyRequests()
  }
  const refused = (source: string, address: string): Refusal => {
    if (!wrong.count(address)) return limited(source)
    onResult(source, 'refused')
    return new Refusal(401, 'the signature or token is missing or wrong')
  }
  app.post<{ Params: { source: string } }>(
    '/hooks/:source',
    {
      bodyLimit: HOOK_BYTES_MAX,
      onRequest: async ({ params, headers, ip }) => {
        const hook = hookOf(params.source)
        if (hook === undefined)
          throw wrong.count(ip) ? new Refusal(404, 'there is no such source of webhooks') : tooManyRequests()
        const { source, kind } = hook
        if (!hasSignature(kind, headers)) throw refused(source, ip)
        // A signature can be verified only after the last byte.
        if (isLargeBody(headers) && wrong.areTooMany(ip)) throw limited(source)
      },
    },
    async ({ params, headers, ip, body }, reply) => {
      const hook = hookOf(params.source)
      if (hook === undefined) throw new Refusal(404, 'there is no such source of webhooks')
      const { source, kind } = hook
      const bytes = Buffer.isBuffer(body) ? body : Buffer.of()
      if (!isSigned(kind, headers, bytes, hook.secrets)) throw refused(source, ip)
      const delivery = deliveryOf(kind, headers)
      if (delivery !== null && !isNew(deliveries, `${source} ${delivery}`)) {
        onResult(source, 'replayed')
        return { source, queued: [], reason: 'this delivery was already processed' } satisfies HookResponse
      }
      const { queued, reason } = matching(deps, hook, pushIn(kind, bytes))
      try {
        for (const set of queued) await deps.trigger(set)
      } catch (error) {
        if (!(error instanceof StateError)) throw error
        // The repetition of a failed delivery must count as new.
        deliveries.delete(`${source} ${delivery}`)
        onResult(source, 'failed')
        throw new Refusal(503, `the leading replica could not be notified: ${error.message}`, {
          'Retry-After': '10',
        })
      }
      onResult(source, queued.length === 0 ? 'ignored' : 'queued')
      if (queued.length === 0) return { source, queued, reason } satisfies HookResponse
      return reply.code(202).send({ source, queued } satisfies HookResponse)
    },
  )
}

function isNew(seen: Set<string>, delivery: string): boolean {
  if (seen.has(delivery)) return false
  seen.add(delivery)
  const [oldest] = seen
  if (seen.size > DELIVERIES_MAX && oldest !== undefined) seen.delete(oldest)
  return true
}

/** The sets that follow a pushed branch, and the reason when there are none. */
function matching(
  { sets }: HookDeps,
  { sets: named }: HookSettings,
  { branches, repositories }: Push,
): { readonly queued: readonly string[]; readonly reason: string } {
  const following = sets
    .filter(({ name }) => named === undefined || named.includes(name))
    .filter(({ branch }) => branches === 'all' || branches.includes(branch))
  if (following.length === 0) return { queued: [], reason: 'no set follows a branch that was pushed to' }
  const queued = following.filter(({ addresses }) => isAmong(repositories, addresses)).map(({ name }) => name)
  const reason =
    'no set that follows this branch has this repository: add its address to "url" or "aliases" of the set'
  return { queued, reason }
}

/** Whether one of `addresses` is of a pushed repository; a webhook without addresses matches any. */
function isAmong(repositories: Push['repositories'], addresses: readonly string[]): boolean {
  return (
    repositories.length === 0 ||
    addresses.some((address) => repositories.includes(repositoryIdentity(address) ?? ''))
  )
}
