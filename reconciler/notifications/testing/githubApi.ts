import { addComment, type Call, type ForgeResponse, type ForgeState, nextId, page } from './forgeState.ts'

/** The response to a call of GitHub's API. */
export function githubResponse(state: ForgeState, { method, path, query, body }: Call): ForgeResponse {
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

const TOO_LONG: ForgeResponse = [
  422,
  {
    message: 'Validation Failed',
    errors: [{ code: 'custom', message: 'body is too long (maximum is 65536 characters)' }],
  },
]

function githubBody({ body }: Call['body']): string | null {
  return typeof body === 'string' && body.length <= 65_536 ? body : null
}

function githubStatus(state: ForgeState, sha: string, body: Call['body']): ForgeResponse {
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
