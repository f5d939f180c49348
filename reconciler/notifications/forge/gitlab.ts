import type { ForgeSettings } from '../../controller/config/settings.ts'
import { shortened } from '../../text/counts.ts'
import type { CommitMark, CommitState, Forge } from './forge.ts'
import { type ForgeConnection, ForgeRefused, forgeCalls } from './forgeCalls.ts'

/** Longest description of a status (characters): GitLab refuses more. */
const DESCRIPTION_CHARS_MAX = 255

/** The project `repository` (its path or number) on gitlab.com or a self-managed GitLab. */
export function gitlabForge({ url, token, repository }: ForgeSettings, connection: ForgeConnection): Forge {
  const { call, list } = forgeCalls(url, { 'PRIVATE-TOKEN': token }, connection)
  const root = `/projects/${encodeURIComponent(repository)}`
  return {
    commitMark: async (sha, context) => {
      const query = `name=${encodeURIComponent(context)}`
      const marks = await list(
        'read the statuses of a commit',
        `${root}/repository/commits/${sha}/statuses?${query}`,
      )
      const [newest] = marks
        .filter((mark) => mark.name === context)
        .sort((a, b) => Number(b.id) - Number(a.id))
      return newest === undefined
        ? null
        : { state: stateOf(newest.status), description: String(newest.description ?? '') }
    },
    markCommit: (sha, context, mark, targetUrl) =>
      notTwice(() =>
        call('mark a commit', 'POST', `${root}/statuses/${sha}`, statusOf(context, mark, targetUrl)),
      ),
    pullRequestsOf: async (sha) => {
      const found = await list(
        'read the merge requests of a commit',
        `${root}/repository/commits/${sha}/merge_requests`,
      )
      return found.map(({ iid }) => Number(iid)).sort((a, b) => b - a)
    },
    comments: async (pullRequest) => {
      const query = 'sort=asc&order_by=created_at'
      const found = await list(
        'read the notes of a merge request',
        `${root}/merge_requests/${pullRequest}/notes?${query}`,
      )
      return found
        .filter(({ system }) => system !== true)
        .map(({ id, body }) => ({ id: Number(id), body: String(body ?? '') }))
    },
    addComment: async (pullRequest, body) => {
      await call('comment on a merge request', 'POST', `${root}/merge_requests/${pullRequest}/notes`, {
        body,
      })
    },
    editComment: async (pullRequest, id, body) => {
      await call('edit a note', 'PUT', `${root}/merge_requests/${pullRequest}/notes/${id}`, { body })
    },
  }
}

function stateOf(state: unknown): CommitState {
  if (state === 'success') return 'success'
  return state === 'pending' || state === 'running' || state === 'created' ? 'pending' : 'failure'
}

function statusOf(context: string, { state, description }: CommitMark, targetUrl: string | null): object {
  return {
    state: state === 'failure' ? 'failed' : state,
    name: context,
    description: shortened(description, DESCRIPTION_CHARS_MAX - 1),
    ...(targetUrl === null ? {} : { target_url: targetUrl }),
  }
}

/** GitLab refuses pending for a status that is already pending. */
async function notTwice(mark: () => Promise<unknown>): Promise<void> {
  try {
    await mark()
  } catch (error) {
    if (error instanceof ForgeRefused && error.status === 400 && error.message.includes('Cannot transition'))
      return
    throw error
  }
}
