import type { ForgeSettings } from '../../controller/config/settings.ts'
import { shortened } from '../../text/counts.ts'
import type { CommitState, Forge } from './forge.ts'
import { type ForgeConnection, forgeCalls } from './forgeCalls.ts'

/** Longest description of a status (characters): GitHub refuses more. */
const DESCRIPTION_CHARS_MAX = 140

/** The repository `repository` (OWNER/NAME) on GitHub or GitHub Enterprise. */
export function githubForge({ url, token, repository }: ForgeSettings, connection: ForgeConnection): Forge {
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: 'application/vnd.github+json',
    'X-GitHub-Api-Version': '2022-11-28',
  }
  const { call, list } = forgeCalls(url, headers, connection)
  const root = `/repos/${repository}`
  return {
    commitMark: async (sha, context) => {
      // The newest comes first.
      const marks = await list('read the statuses of a commit', `${root}/commits/${sha}/statuses`)
      const newest = marks.find((mark) => mark.context === context)
      return newest === undefined
        ? null
        : { state: stateOf(newest.state), description: String(newest.description ?? '') }
    },
    markCommit: async (sha, context, { state, description }, targetUrl) => {
      await call('mark a commit', 'POST', `${root}/statuses/${sha}`, {
        state,
        context,
        description: shortened(description, DESCRIPTION_CHARS_MAX - 1),
        ...(targetUrl === null ? {} : { target_url: targetUrl }),
      })
    },
    pullRequestsOf: async (sha) => {
      const found = await list('read the pull requests of a commit', `${root}/commits/${sha}/pulls`)
      return found.map(({ number }) => Number(number)).sort((a, b) => b - a)
    },
    comments: async (pullRequest) => {
      const found = await list(
        'read the comments of a pull request',
        `${root}/issues/${pullRequest}/comments`,
      )
      return found.map(({ id, body }) => ({ id: Number(id), body: String(body ?? '') }))
    },
    addComment: async (pullRequest, body) => {
      await call('comment on a pull request', 'POST', `${root}/issues/${pullRequest}/comments`, { body })
    },
    editComment: async (_pullRequest, id, body) => {
      await call('edit a comment', 'PATCH', `${root}/issues/comments/${id}`, { body })
    },
  }
}

/** GitHub distinguishes errors from failures; here both are failures. */
function stateOf(state: unknown): CommitState {
  return state === 'success' || state === 'pending' ? state : 'failure'
}
