import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { cookieOf, isSameOrigin } from '../../../web/browserRequest.ts'
import { type ActionResult, type ApiDeps, resultOf, TEXT_CHARS_MAX } from '../../controller/http/apiRoutes.ts'
import { Refusal } from '../../controller/http/refusal.ts'
import { isSameSecret } from '../../controller/http/webhookSignature.ts'
import type { ControllerStatus, SetStatus } from '../../controller/status/status.ts'
import { HTML_HEADERS } from '../headers.ts'
import type { Message, Viewer } from '../viewer.ts'
import { type SignInForm, SUSPENSION_CHOICES, signInPage, suspendPage } from './formPages.ts'
import { memorySessions, SESSION_MS, type Session } from './sessions.ts'

/** With this prefix browsers refuse the cookie from other hosts and without Secure. */
const COOKIE = '__Host-pharos-controller'

/** Dependencies of the actions on pages. */
export interface ActingDeps extends ApiDeps {
  /** Monotonic clock (milliseconds). */
  readonly nowMs: () => number
  /** Public address of the pages; null when not configured. */
  readonly publicUrl: string | null
  readonly status: () => ControllerStatus
}

/**
 * Adds sign-in, sign-out and the actions on a set: forms, each of which redirects with 303 and shows a message on the
 * next page. Returns the function that determines the viewer of a page.
 */
export function addActingRoutes(app: FastifyInstance, deps: ActingDeps): (request: FastifyRequest) => Viewer {
  const { token, wrong, status } = deps
  const sessions = memorySessions(deps.nowMs)
  const sessionOf = ({ headers }: FastifyRequest): Session | null =>
    sessions.find(cookieOf(headers.cookie, COOKIE))
  const fromOwnPage = async (request: FastifyRequest): Promise<void> => {
    if (!isSameOrigin(request.headers, (origin) => isOwnOrigin(origin, request, deps.publicUrl)))
      throw new Refusal(403, 'only a page of the controller may send this: sign in there, or use /api')
    if (token === null) throw new Refusal(403, 'set apiToken in the configuration to use this')
  }
  const viewerOf = (request: FastifyRequest): Viewer => {
    if (token === null) return { kind: 'none' }
    const session = sessionOf(request)
    if (session === null) return { kind: 'guest' }
    const { name, message } = session
    session.message = null
    return { kind: 'person', name, message }
  }
  const signInForm = (reply: FastifyReply, form: SignInForm) =>
    reply.headers(HTML_HEADERS).send(signInPage(form, status()))

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/sign-in', async ({ query }, reply) => {
    if (token === null) throw new Refusal(403, 'set apiToken in the configuration to use this')
    const set = typeof query.set === 'string' ? query.set : null
    return signInForm(reply, { problem: query.undone === undefined ? null : SIGNED_OUT, set, name: '' })
  })
  app.post('/sign-in', { onRequest: fromOwnPage }, async (request, reply) => {
    const form = formIn(request.body)
    const set = form.get('set')
    const name = (form.get('name') ?? '').trim()
    // `fromOwnPage` refuses without a token.
    if (!isSameSecret(form.get('token') ?? '', token ?? '')) {
      const isSlowEnough = wrong.count(request.ip)
      const problem = isSlowEnough
        ? 'This is not the token of the controller.'
        : 'Too many wrong tokens: try again later.'
      return signInForm(reply.code(isSlowEnough ? 401 : 429), {
        problem,
        set,
        name: name.slice(0, TEXT_CHARS_MAX),
      })
    }
    if (!isText(name))
      return signInForm(reply.code(400), {
        problem: `Give a name of 1 to ${TEXT_CHARS_MAX} characters.`,
        set,
        name: '',
      })
    sessions.end(cookieOf(request.headers.cookie, COOKIE))
    const known = status().sets.find((one) => one.name === set)
    return reply
      .header('Set-Cookie', cookie(sessions.open(name), SESSION_MS / 1_000))
      .redirect(known === undefined ? './' : `sets/${encodeURIComponent(known.name)}`, 303)
  })
  app.post('/sign-out', { onRequest: fromOwnPage }, async (request, reply) => {
    sessions.end(cookieOf(request.headers.cookie, COOKIE))
    return reply.header('Set-Cookie', cookie('', 0)).redirect('./', 303)
  })

  /** The set in a path and the session; null after the response to a user who is not signed in. */
  const admitted = (request: FastifyRequest<SetRoute>, reply: FastifyReply) => {
    const set = status().sets.find(({ name }) => name === request.params.set)
    if (set === undefined) throw new Refusal(404, 'there is no such set')
    const session = sessionOf(request)
    if (session !== null) return { set, session }
    const undone = request.method === 'POST' ? '&undone' : ''
    void reply.redirect(`../../sign-in?set=${encodeURIComponent(set.name)}${undone}`, 303)
    return null
  }
  app.get<SetRoute>('/sets/:set/suspend', async (request, reply) => {
    const who = admitted(request, reply)
    if (who === null) return reply
    const page = suspendPage(who.set, { status: status(), viewer: viewerOf(request) })
    return reply.headers(HTML_HEADERS).send(page)
  })
  for (const [path, act] of Object.entries(ACTIONS)) {
    app.post<SetRoute>(`/sets/:set/${path}`, { onRequest: fromOwnPage }, async (request, reply) => {
      const who = admitted(request, reply)
      if (who === null) return reply
      const { set, session } = who
      const form = formIn(request.body)
      session.message = await messageOf(() => act({ deps, set, form, actor: session.name }))
      return reply.redirect(`../${encodeURIComponent(set.name)}`, 303)
    })
  }
  return viewerOf
}

/** For an action without a session, which ends with the process as well. */
const SIGNED_OUT = 'Not done: your session has ended. Sign in, then try again.'

interface SetRoute {
  Params: { readonly set: string }
}

interface Action {
  readonly deps: ActingDeps
  readonly set: SetStatus
  readonly form: URLSearchParams
  readonly actor: string
}

type Outcome = { readonly result: ActionResult; readonly text: string }

const ACTIONS: Readonly<Record<string, (action: Action) => Promise<Outcome>>> = {
  sync: async ({ deps, set }) => ({
    result: await deps.run(set.name),
    text: 'A run is requested: it starts as soon as the leading replica is free.',
  }),
  approve: async ({ deps, set, form, actor }) => {
    const digest = form.get('digest') ?? ''
    // Only the leading replica knows pending changes; the refusal of `approve` names it.
    const isWaiting = set.role === 'follower' || set.approvals.some((one) => one.digest === digest)
    const stale = set.approvals.length === 0 ? NONE_WAITS : STALE
    return { result: isWaiting ? await deps.approve(digest, actor) : stale, text: `Approved: ${digest}.` }
  },
  suspend: async ({ deps, set, form, actor }) => {
    const reason = (form.get('reason') ?? '').trim()
    const choice = SUSPENSION_CHOICES[form.get('for') ?? '']
    if (!isText(reason) || choice === undefined) return { result: NO_SUSPENSION, text: '' }
    const forMs = choice.hours === null ? null : choice.hours * 3_600_000
    return { result: await deps.suspend(set.name, reason, actor, forMs), text: 'The set is suspended.' }
  },
  resume: async ({ deps, set, actor }) => ({
    result: await deps.resume(set.name, actor),
    text: 'The set is resumed.',
  }),
  'acknowledge-history': async ({ deps, set, form, actor }) => ({
    result:
      set.role === 'follower' || set.commit?.sha === form.get('commit')
        ? await deps.acknowledgeHistory(set.name, actor)
        : { status: 409, error: 'the branch has a newer commit: review it, then accept it' },
    text: 'The history of the branch is accepted.',
  }),
}

const STALE: ActionResult = {
  status: 409,
  error: 'the pending changes are different now: review them, then approve them',
}
const NONE_WAITS: ActionResult = {
  status: 409,
  error: 'no changes of the set wait for an approval now, perhaps because they were approved already',
}
const NO_SUSPENSION: ActionResult = {
  status: 400,
  error: `give a reason of 1 to ${TEXT_CHARS_MAX} characters, and for how long`,
}

async function messageOf(act: () => Promise<Outcome>): Promise<Message> {
  try {
    const { result, text } = await resultOf(act)
    return 'done' in result ? { isDone: true, text } : { isDone: false, text: `Not done: ${result.error}.` }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { isDone: false, text: `Not done: ${error.message}.` }
  }
}

/** Whether `origin` is that of the pages: of the configured address, or else of the requested host. Pure. */
function isOwnOrigin(origin: string, { headers }: FastifyRequest, publicUrl: string | null): boolean {
  if (!URL.canParse(origin)) return false
  const given = new URL(origin)
  return publicUrl === null ? given.host === headers.host : given.origin === new URL(publicUrl).origin
}

function formIn(body: unknown): URLSearchParams {
  return new URLSearchParams(Buffer.isBuffer(body) ? body.toString('utf8') : '')
}

function isText(text: string): boolean {
  return text !== '' && text.length <= TEXT_CHARS_MAX
}

function cookie(value: string, maxAgeS: number): string {
  return `${COOKIE}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}`
}
