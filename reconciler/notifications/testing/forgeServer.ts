import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type ForgeResponse,
  addComment,
  type Call,
  type ForgeState,
  type PostedComment,
  type PostedStatus,
  type PullRequest,
} from './forgeState.ts'
import { githubResponse } from './githubApi.ts'
import { gitlabResponse } from './gitlabApi.ts'

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
  /** Adds a comment of another user. */
  readonly comment: (pullRequest: number, body: string, isSystem?: boolean) => PostedComment
  /** What the next requests get instead, one each. */
  readonly faults: (
    | number
    | 'reset'
    | { readonly status: number; readonly headers: Record<string, string> }
  )[]
  readonly close: () => Promise<void>
}

const REPOSITORY = 'shop/monitoring'

export async function startForgeServer(token: string): Promise<ForgeServer> {
  const state: ForgeState = { statuses: [], comments: [], pullRequests: [] }
  const requests: string[] = []
  const faults: ForgeServer['faults'] = []
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
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
    const [status, value] = routed({ token, state }, { incoming, url, body })
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
  }
  const server = createServer((incoming, response) => {
    respond(incoming, response).catch(() => response.destroy())
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

/** The response of the API that `url` belongs to; requests without the token are refused. */
function routed(
  { token, state }: { readonly token: string; readonly state: ForgeState },
  {
    incoming,
    url,
    body,
  }: { readonly incoming: IncomingMessage; readonly url: URL; readonly body: Call['body'] },
): ForgeResponse {
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
      ? gitlabResponse(state, of(gitlab))
      : [404, { message: '404 Project Not Found' }]
  }
  if (incoming.headers['user-agent'] === undefined)
    return [403, { message: 'Request forbidden by administrative rules.' }]
  if (incoming.headers.authorization !== `Bearer ${token}`) return [401, { message: 'Bad credentials' }]
  return url.pathname.startsWith(`${github}/`)
    ? githubResponse(state, of(github))
    : [404, { message: 'Not Found' }]
}

async function bodyOf(incoming: IncomingMessage): Promise<Call['body']> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString()
  return text === '' ? {} : JSON.parse(text)
}
