import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseDuration } from '../../../api/contract/duration.ts'
import { visible } from '../../../api/contract/visibleText.ts'
import { mappingOf } from '../../manifest/mapping.ts'
import { SUSPENSION_MS_MAX } from '../../state/model/record.ts'
import { StateError } from '../../state/model/stateError.ts'
import type { WrongRequests } from './addressLimit.ts'
import { Refusal, tooManyRequests } from './refusal.ts'
import { isSameSecret } from './webhookSignature.ts'
import { parsedJson } from '../../text/parsedJson.ts'

/** Longest reason or actor (characters). */
export const TEXT_CHARS_MAX = 500

/** The result of a requested action, or its error. */
export type ActionResult =
  | { readonly done: object }
  | { readonly status: 400 | 404 | 409; readonly error: string }

/** The parts of the controller that the routes use. */
export interface ApiDeps {
  /** The token in plain text; null when the routes are disabled. */
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

/** Adds `POST /api/…`, which needs the token. */
export function addApiRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const admit = async ({ headers, ip }: FastifyRequest): Promise<void> => {
    if (deps.token === null) throw new Refusal(403, 'set apiToken in the configuration to use this')
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
    if (isSameSecret(given, deps.token)) return
    if (!deps.wrong.count(ip)) throw tooManyRequests()
    throw new Refusal(401, 'Authorization: Bearer TOKEN is missing or wrong', {
      'WWW-Authenticate': 'Bearer',
    })
  }
  const add = (path: string, act: ApiAction): void => {
    app.post<{ Params: Params }>(path, { onRequest: admit }, async ({ params, body }, reply) => {
      const result = await resultOf(() => act(params, actionIn(body)))
      if ('error' in result) throw new Refusal(result.status, result.error)
      return reply.code(202).send(result.done)
    })
  }
  add('/api/sets/:set/run', ({ set = '' }) => deps.run(set))
  add('/api/approve/:digest', ({ digest = '' }, { actor }) => deps.approve(digest, actor))
  add('/api/sets/:set/suspend', ({ set = '' }, { reason, actor, forMs }) =>
    reason.trim() === '' ? NO_REASON : deps.suspend(set, reason, actor, forMs),
  )
  add('/api/sets/:set/resume', ({ set = '' }, { actor }) => deps.resume(set, actor))
  add('/api/sets/:set/acknowledge-history', ({ set = '' }, { actor }) => deps.acknowledgeHistory(set, actor))
}

type Params = Readonly<Record<string, string>>
type ApiAction = (params: Params, action: RequestedAction) => ActionResult | Promise<ActionResult>

/** The result of `act`. Throws Refusal 503 when the state cannot be read or written. */
export async function resultOf<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw new Refusal(503, error.message)
  }
}

const NO_REASON: ActionResult = {
  status: 400,
  error: 'reason is required: the status of the suspended set shows it',
}

interface RequestedAction {
  readonly reason: string
  readonly actor: string
  /** Duration (milliseconds); null for no end. */
  readonly forMs: number | null
}

function actionIn(body: unknown): RequestedAction {
  const value = Buffer.isBuffer(body) && body.length > 0 ? parsedJson(body.toString('utf8')) : {}
  const fields = mappingOf(value)
  if (fields === undefined) throw new Refusal(400, 'the body must be a JSON object, or empty')
  const { reason = '', actor = 'api', for: period, ...unknown } = fields
  const [field] = Object.keys(unknown)
  if (field !== undefined)
    throw new Refusal(400, `${visible(field)} is not a known field: known are reason, actor and for`)
  if (!isText(reason) || !isText(actor))
    throw new Refusal(400, 'reason and actor must be strings of at most 500 characters')
  if (period === undefined) return { reason, actor, forMs: null }
  const duration = typeof period === 'string' ? parseDuration(period) : undefined
  if (duration === undefined || duration.secs * 1_000 > SUSPENSION_MS_MAX)
    throw new Refusal(400, 'for must be a duration such as 30m or 2h, at most ten years')
  return { reason, actor, forMs: duration.secs * 1_000 + Math.ceil(duration.nanos / 1_000_000) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_CHARS_MAX
}
