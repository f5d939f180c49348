import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Comment {
  readonly id: number
  body: string
  /** The author, for GitHub and for GitLab. */
  readonly user: { readonly type: string }
  readonly author_association: string
  readonly author: { readonly id: number }
}

/** Number of the user whose token the jobs have. */
const OWN_ID = 5

const BY_JOB = { user: { type: 'Bot' }, author_association: 'NONE', author: { id: OWN_ID } }
const BY_STRANGER = { user: { type: 'User' }, author_association: 'NONE', author: { id: 6 } }

/** What of a platform's API the jobs use: the comments of one pull or merge request. */
export interface Platform {
  readonly url: string
  readonly comments: Comment[]
  /** `METHOD /path` of every request that changed something. */
  readonly writes: string[]
  readonly close: () => Promise<void>
}

/** Starts what `list` and `one` (paths of the comments of a request, and of one of them) are asked of. */
export async function startPlatform(list: string, one: string): Promise<Platform> {
  // A stranger who could edit the plan, if jobs took this for their comment.
  const comments: Comment[] = [{ id: 1, body: '<!-- pharos production -->', ...BY_STRANGER }]
  const writes: string[] = []
  const server: Server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      const isKnown =
        headers.authorization === 'Bearer platform-token' || headers['private-token'] === 'platform-token'
      const path = url.split('?')[0] ?? ''
      const respond = (status: number, body: unknown): void => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      }
      if (method !== 'GET') writes.push(`${method} ${path}`)
      const edited = comments.find(({ id }) => path === `${one}/${id}`)
      if (!isKnown) respond(401, {})
      else if (method === 'GET' && path === list) respond(200, comments)
      else if (method === 'GET' && path === '/user') respond(200, { id: OWN_ID })
      else if (method === 'POST' && path === list) {
        comments.push({ id: comments.length + 1, body: JSON.parse(text).body, ...BY_JOB })
        respond(201, {})
      } else if (edited !== undefined) {
        edited.body = JSON.parse(text).body
        respond(200, {})
      } else respond(404, {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // True because the server listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    comments,
    writes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
