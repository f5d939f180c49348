/** A pull request, or merge request, with the commits that it brought. */
export interface PullRequest {
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

/** A call of one of the two APIs. */
export interface Call {
  readonly method: string
  /** Path below the API, without the repository. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
}

/** The status and the body of a response. */
export type ForgeResponse = readonly [status: number, body: unknown]

/** Everything that a forge keeps of one repository. */
export interface ForgeState {
  readonly statuses: PostedStatus[]
  readonly comments: PostedComment[]
  readonly pullRequests: PullRequest[]
}

/** The number of the next status or comment. */
export function nextId({ statuses, comments }: ForgeState): number {
  return 1 + statuses.length + comments.length
}

/** Adds a comment, as a person does. */
export function addComment(
  state: ForgeState,
  pullRequest: number,
  body: string,
  isSystem = false,
): PostedComment {
  const comment = { id: nextId(state), pullRequest, body, isSystem }
  state.comments.push(comment)
  return comment
}

/** One page of a list, as both forges give it: 20 or 30 entries, at most 100. */
export function page<Entry>(entries: readonly Entry[], query: URLSearchParams): readonly Entry[] {
  const perPage = Math.min(100, Number(query.get('per_page') ?? '20'))
  const from = (Number(query.get('page') ?? '1') - 1) * perPage
  return entries.slice(from, from + perPage)
}
