import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A pull request, or merge request, with the commits that it brought. */
interface PullRequest {
  readonly number: number
  readonly commits: readonly string[]
}

/** A status of a commit as it was posted. */
export interface PostedStatus {
  readonly id: number
  readonly sha: string
  readonly context: string
  state: string
  description: string
  targetUrl: string | null
}

/** A comment as it stands. */
export interface PostedComment {
  readonly id: number
  readonly pullRequest: number
  body: string
  readonly isSystem: boolean
}

/**
 * The calls of GitHub's and GitLab's API that concern statuses and comments, for tests: a real server with the
 * paths, methods, status codes, pages and limits of both, over one repository `shop/monitoring`.
 */
export interface ForgeServer {
  readonly githubUrl: string
  readonly gitlabUrl: string
  readonly statuses: readonly PostedStatus[]
  readonly comments: readonly PostedComment[]
  /** Every request, such as `POST /repos/shop/monitoring/statuses/SHA`, without queries. */
  readonly requests: readonly string[]
  readonly pullRequests: PullRequest[]
  /** Adds a comment of somebody else. */
  readonly comment: (pullRequest: number, body: string, isSystem?: boolean) => PostedComment
  /** What the next requests are answered with instead, one each. */
  readonly faults: (
    | number
    | 'reset'
    | { readonly status: number; readonly headers: Record<string, string> }
  )[]
  readonly close: () => Promise<void>
}

interface Call {
  readonly method: string
  /** Path below the API, without the repository. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
}

type Answer = readonly [status: number, body: unknown]

const REPOSITORY = 'shop/monitoring'

export async function startForgeServer(token: string): Promise<ForgeServer> {
  const state = {
    statuses: [] as PostedStatus[],
    comments: [] as PostedComment[],
    pullRequests: [] as PullRequest[],
  }
  const requests: string[] = []
  const faults: ForgeServer['faults'] = []
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? '/', 'http://forge')
    const body = await bodyOf(incoming)
    requests.push(`${incoming.method} ${url.pathname}`)
    const fault = faults.shift()
    if (fault === 'reset') {
      incoming.socket.destroy()
      return
    }
    if (fault !== undefined) {
      const { status, headers } = typeof fault === 'number' ? { status: fault, headers: {} } : fault
      response.writeHead(status, headers).end('{"message":"not now"}')
      return
    }
    const [status, value] = routed(incoming, url, body)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
  }
  const routed = (incoming: IncomingMessage, url: URL, body: Call['body']): Answer => {
    const method = incoming.method ?? ''
    const of = (prefix: string): Call => ({
      method,
      path: url.pathname.slice(prefix.length),
      query: url.searchParams,
      body,
    })
    const github = `/repos/${REPOSITORY}`
    const gitlab = `/api/v4/projects/${encodeURIComponent(REPOSITORY)}`
    if (url.pathname.startsWith('/api/v4/')) {
      if (incoming.headers['private-token'] !== token) return [401, { message: '401 Unauthorized' }]
      return url.pathname.startsWith(`${gitlab}/`)
        ? gitlabAnswer(state, of(gitlab))
        : [404, { message: '404 Project Not Found' }]
    }
    if (incoming.headers['user-agent'] === undefined)
      return [403, { message: 'Request forbidden by administrative rules.' }]
    if (incoming.headers.authorization !== `Bearer ${token}`) return [401, { message: 'Bad credentials' }]
    return url.pathname.startsWith(`${github}/`)
      ? githubAnswer(state, of(github))
      : [404, { message: 'Not Found' }]
  }
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    githubUrl: `http://127.0.0.1:${port}`,
    gitlabUrl: `http://127.0.0.1:${port}/api/v4`,
    statuses: state.statuses,
    comments: state.comments,
    pullRequests: state.pullRequests,
    requests,
    faults,
    comment: (pullRequest, body, isSystem = false) => addComment(state, pullRequest, body, isSystem),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface State {
  readonly statuses: PostedStatus[]
  readonly comments: PostedComment[]
  readonly pullRequests: PullRequest[]
}

/** The number of the next status or comment. */
function nextId({ statuses, comments }: State): number {
  return 1 + statuses.length + comments.length
}

function addComment(state: State, pullRequest: number, body: string, isSystem = false): PostedComment {
  const comment = { id: nextId(state), pullRequest, body, isSystem }
  state.comments.push(comment)
  return comment
}

function githubAnswer(state: State, { method, path, query, body }: Call): Answer {
  const [, sha = ''] = /^\/(?:statuses|commits)\/([0-9a-f]{40})(?:\/|$)/.exec(path) ?? []
  const [, issue = ''] = /^\/issues\/(\d+)\/comments$/.exec(path) ?? []
  const [, id = ''] = /^\/issues\/comments\/(\d+)$/.exec(path) ?? []
  if (method === 'POST' && path === `/statuses/${sha}`) return githubStatus(state, sha, body)
  if (method === 'GET' && path === `/commits/${sha}/statuses`) {
    const newestFirst = state.statuses.filter((one) => one.sha === sha).reverse()
    return [
      200,
      page(newestFirst, query).map(({ id: number, context, state: is, description, targetUrl }) => ({
        id: number,
        context,
        state: is,
        description,
        target_url: targetUrl,
      })),
    ]
  }
  if (method === 'GET' && path === `/commits/${sha}/pulls`) {
    return [
      200,
      page(
        state.pullRequests.filter(({ commits }) => commits.includes(sha)),
        query,
      ).map(({ number }) => ({ number, state: 'closed' })),
    ]
  }
  if (issue !== '') {
    const pullRequest = state.pullRequests.find(({ number }) => number === Number(issue))
    if (pullRequest === undefined) return [404, { message: 'Not Found' }]
    if (method === 'GET') {
      const of = state.comments.filter((one) => one.pullRequest === pullRequest.number && !one.isSystem)
      return [200, page(of, query).map((one) => ({ id: one.id, body: one.body }))]
    }
    const text = githubBody(body)
    return text === null ? TOO_LONG : [201, { id: addComment(state, pullRequest.number, text).id }]
  }
  if (id !== '' && method === 'PATCH') {
    const comment = state.comments.find((one) => one.id === Number(id))
    const text = githubBody(body)
    if (comment === undefined) return [404, { message: 'Not Found' }]
    if (text === null) return TOO_LONG
    // As GitHub stores what a browser sends.
    comment.body = text.replaceAll('\n', '\r\n')
    return [200, { id: comment.id }]
  }
  return [404, { message: 'Not Found' }]
}

const TOO_LONG: Answer = [
  422,
  {
    message: 'Validation Failed',
    errors: [{ code: 'custom', message: 'body is too long (maximum is 65536 characters)' }],
  },
]

function githubBody({ body }: Call['body']): string | null {
  return typeof body === 'string' && body.length <= 65_536 ? body : null
}

function githubStatus(state: State, sha: string, body: Call['body']): Answer {
  const { context = 'default', state: wanted, description = '', target_url: targetUrl = null } = body
  const isKnown = ['error', 'failure', 'pending', 'success'].includes(String(wanted))
  if (!isKnown || String(description).length > 140) return [422, { message: 'Validation Failed' }]
  state.statuses.push({
    id: nextId(state),
    sha,
    context: String(context),
    state: String(wanted),
    description: String(description),
    targetUrl: targetUrl === null ? null : String(targetUrl),
  })
  return [201, { context, state: wanted }]
}

function gitlabAnswer(state: State, { method, path, query, body }: Call): Answer {
  const [, posted = ''] = /^\/statuses\/([0-9a-f]{40})$/.exec(path) ?? []
  const [, sha = '', what = ''] =
    /^\/repository\/commits\/([0-9a-f]{40})\/(statuses|merge_requests)$/.exec(path) ?? []
  const [, iid = '', , note = ''] = /^\/merge_requests\/(\d+)\/notes(\/(\d+))?$/.exec(path) ?? []
  if (method === 'POST' && posted !== '') return gitlabStatus(state, posted, body)
  if (method === 'GET' && what === 'statuses') {
    const of = state.statuses.filter(
      (one) => one.sha === sha && [null, one.context].includes(query.get('name')),
    )
    return [
      200,
      page(of, query).map((one) => ({
        id: one.id,
        name: one.context,
        status: one.state,
        description: one.description,
        target_url: one.targetUrl,
      })),
    ]
  }
  if (method === 'GET' && what === 'merge_requests') {
    return [
      200,
      page(
        state.pullRequests.filter(({ commits }) => commits.includes(sha)),
        query,
      ).map(({ number }) => ({ id: 1_000 + number, iid: number, state: 'merged' })),
    ]
  }
  const mergeRequest = state.pullRequests.find(({ number }) => String(number) === iid)
  if (mergeRequest === undefined) return [404, { message: '404 Not found' }]
  if (method === 'GET' && note === '') {
    const of = state.comments.filter((one) => one.pullRequest === mergeRequest.number)
    return [
      200,
      page(query.get('sort') === 'asc' ? of : of.toReversed(), query).map((one) => ({
        id: one.id,
        body: one.body,
        system: one.isSystem,
      })),
    ]
  }
  const { body: text } = body
  if (typeof text !== 'string' || text.length > 1_000_000)
    return [400, { message: { note: ['is too long'] } }]
  if (method === 'POST' && note === '') return [201, { id: addComment(state, mergeRequest.number, text).id }]
  const comment = state.comments.find((one) => String(one.id) === note)
  if (method !== 'PUT' || comment === undefined) return [404, { message: '404 Not found' }]
  comment.body = text
  return [200, { id: comment.id }]
}

/** GitLab keeps one status of a name while it is not final, and refuses to make of it what it is. */
function gitlabStatus(state: State, sha: string, body: Call['body']): Answer {
  const { name = 'default', state: wanted, description = '', target_url: targetUrl = null } = body
  const isKnown = ['pending', 'running', 'success', 'failed', 'canceled'].includes(String(wanted))
  if (!isKnown || String(description).length > 255)
    return [400, { message: 'state does not have a valid value' }]
  const open = state.statuses.findLast(
    (one) => one.sha === sha && one.context === name && ['pending', 'running'].includes(one.state),
  )
  if (open !== undefined) {
    const event = { pending: 'enqueue', running: 'run' }[String(wanted)]
    if (event !== undefined && (open.state === wanted || wanted === 'pending')) {
      return [
        400,
        {
          message: `Cannot transition status via :${event} from :${open.state} (Reason(s): Status cannot transition via "${event}")`,
        },
      ]
    }
    open.state = String(wanted)
    open.description = String(description)
    return [201, { id: open.id, status: wanted }]
  }
  state.statuses.push({
    id: nextId(state),
    sha,
    context: String(name),
    state: String(wanted),
    description: String(description),
    targetUrl: targetUrl === null ? null : String(targetUrl),
  })
  return [201, { status: wanted }]
}

/** One page of a list, as both forges give it: 20 or 30 entries, at most 100. */
function page<Entry>(entries: readonly Entry[], query: URLSearchParams): readonly Entry[] {
  const perPage = Math.min(100, Number(query.get('per_page') ?? '20'))
  const from = (Number(query.get('page') ?? '1') - 1) * perPage
  return entries.slice(from, from + perPage)
}

async function bodyOf(incoming: IncomingMessage): Promise<Call['body']> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString()
  return text === '' ? {} : JSON.parse(text)
}
