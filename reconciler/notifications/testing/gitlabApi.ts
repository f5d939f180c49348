import { addComment, type Call, type ForgeResponse, type ForgeState, nextId, page } from './forgeState.ts'

/** The response to a call of GitLab's API. */
export function gitlabResponse(state: ForgeState, { method, path, query, body }: Call): ForgeResponse {
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
  return iid === '' ? NOT_FOUND : notesResponse(state, { method, path, query, body }, iid, note)
}

const NOT_FOUND: ForgeResponse = [404, { message: '404 Not found' }]

function notesResponse(
  state: ForgeState,
  { method, query, body }: Call,
  iid: string,
  note: string,
): ForgeResponse {
  const mergeRequest = state.pullRequests.find(({ number }) => String(number) === iid)
  if (mergeRequest === undefined) return NOT_FOUND
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
  if (method !== 'PUT' || comment === undefined) return NOT_FOUND
  comment.body = text
  return [200, { id: comment.id }]
}

/** GitLab keeps one status of a name while it is not final, and refuses to make of it what it is. */
function gitlabStatus(state: ForgeState, sha: string, body: Call['body']): ForgeResponse {
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
