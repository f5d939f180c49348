import { parseDuration } from '../../../api/contract/duration.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import { SUSPENSION_MS_MAX } from '../../state/model/record.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { WrongRequests } from './addressLimit.ts'
import { json, type Route, type RouteAnswer, type RouteHead, type RouteRequest, refusal } from './route.ts'
import { isSameSecret } from './webhookSignature.ts'

/** Largest body (bytes). */
const BODY_BYTES_MAX = 16 * 1024
/** Longest reason or name of a person (characters). */
const TEXT_CHARS_MAX = 500

/** What came of a wish: done, or why not. */
export type ActionResult =
  | { readonly done: object }
  | { readonly status: 400 | 404 | 409; readonly error: string }

/** What the routes need of the controller. */
export interface ApiDeps {
  /** In clear; null when the routes are off. */
  readonly token: string | null
  readonly wrong: WrongRequests
  readonly run: (set: string) => Promise<ActionResult>
  readonly approve: (digest: string, actor: string) => Promise<ActionResult>
  readonly suspend: (
    set: string,
    reason: string,
    actor: string,
    forMs: number | null,
  ) => Promise<ActionResult>
  readonly resume: (set: string, actor: string) => Promise<ActionResult>
  readonly acknowledgeHistory: (set: string, actor: string) => Promise<ActionResult>
}

/** `POST /api/…`, for people and pipelines that know the token. */
export function apiRoutes(deps: ApiDeps): readonly Route[] {
  const admit = (head: RouteHead): RouteAnswer | null => {
    if (deps.token === null) return refusal(403, 'set apiToken in the configuration to use this')
    const given = /^Bearer (.+)$/i.exec(head.headers.authorization ?? '')?.[1] ?? ''
    if (isSameSecret(given, deps.token)) return null
    if (!deps.wrong.count(head.address)) return refusal(429, 'too many requests', { 'Retry-After': '1' })
    return refusal(401, 'Authorization: Bearer TOKEN is missing or wrong', { 'WWW-Authenticate': 'Bearer' })
  }
  const route = (path: string, act: Act): Route => ({
    method: 'POST',
    path,
    bodyBytesMax: BODY_BYTES_MAX,
    admit,
    handle: async (request) => {
      const wish = wishIn(request)
      if ('problem' in wish) return refusal(400, wish.problem)
      try {
        const result = await act(request.params, wish)
        return 'error' in result ? refusal(result.status, result.error) : json(202, result.done)
      } catch (error) {
        if (!(error instanceof StateError)) throw error
        return refusal(503, error.message)
      }
    },
  })
  return [
    route('/api/sets/:set/run', ({ set = '' }) => deps.run(set)),
    route('/api/approve/:digest', ({ digest = '' }, { actor }) => deps.approve(digest, actor)),
    route('/api/sets/:set/suspend', ({ set = '' }, { reason, actor, forMs }) =>
      reason.trim() === '' ? NO_REASON : deps.suspend(set, reason, actor, forMs),
    ),
    route('/api/sets/:set/resume', ({ set = '' }, { actor }) => deps.resume(set, actor)),
    route('/api/sets/:set/acknowledge-history', ({ set = '' }, { actor }) =>
      deps.acknowledgeHistory(set, actor),
    ),
  ]
}

type Act = (params: Readonly<Record<string, string>>, wish: Wish) => ActionResult | Promise<ActionResult>

const NO_REASON: ActionResult = {
  status: 400,
  error: 'reason is required: whoever finds the set suspended will ask',
}

interface Wish {
  readonly reason: string
  readonly actor: string
  /** How long (milliseconds); null for until somebody ends it. */
  readonly forMs: number | null
}

function wishIn({ body }: RouteRequest): Wish | { readonly problem: string } {
  const value = body.length === 0 ? {} : parsed(body)
  const fields = mappingOf(value)
  if (fields === undefined) return { problem: 'the body must be a JSON object, or empty' }
  const { reason = '', actor = 'api', for: period } = fields
  if (!isText(reason) || !isText(actor))
    return { problem: 'reason and actor must be texts of at most 500 characters' }
  if (period === undefined) return { reason, actor, forMs: null }
  const duration = typeof period === 'string' ? parseDuration(period) : undefined
  if (duration === undefined || duration.secs * 1_000 > SUSPENSION_MS_MAX)
    return { problem: 'for must be a duration such as 30m or 2h, of ten years at most' }
  return { reason, actor, forMs: duration.secs * 1_000 + Math.ceil(duration.nanos / 1_000_000) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARS_MAX
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // What is no JSON is no object either.
    return undefined
  }
}
