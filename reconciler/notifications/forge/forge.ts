/** State of a set on a commit. */
export type CommitState = 'pending' | 'success' | 'failure'

/** A status of a commit, current or new. */
export interface CommitMark {
  readonly state: CommitState
  /** One line, shortened to the limit of the forge. */
  readonly description: string
}

/** A host of repositories and pull requests. Its calls throw ForgeRefused and Unreachable. */
export interface Forge {
  /** The newest status of `context` on `sha`; null for none. */
  readonly commitMark: (sha: string, context: string) => Promise<CommitMark | null>
  /** Sets a status on a commit. `targetUrl` is a link for details; null for none. */
  readonly markCommit: (
    sha: string,
    context: string,
    mark: CommitMark,
    targetUrl: string | null,
  ) => Promise<void>
  /** Numbers of the pull requests that contain `sha`, the newest first. */
  readonly pullRequestsOf: (sha: string) => Promise<readonly number[]>
  /** The comments on a pull request, oldest first. */
  readonly comments: (pullRequest: number) => Promise<readonly ForgeComment[]>
  readonly addComment: (pullRequest: number, body: string) => Promise<void>
  readonly editComment: (pullRequest: number, id: number, body: string) => Promise<void>
}

/** A comment on a pull request. */
export interface ForgeComment {
  readonly id: number
  readonly body: string
}

/** A comment that is edited instead of repeated. */
export interface StickyComment {
  /** First line, which identifies it: an HTML comment, which pages do not show. */
  readonly marker: string
  /** Second line: the meaning of the comment, for comparison. */
  readonly gist: string
  /** The complete text, with both lines. */
  readonly body: string
}

/**
 * Writes the comment on `pullRequest` that begins with the marker: adds it, or edits it when it differs. `keepSameGist` keeps
 * a comment with the same gist.
 */
export async function upsertComment(
  forge: Forge,
  pullRequest: number,
  { marker, gist, body }: StickyComment,
  keepSameGist: boolean,
): Promise<'added' | 'edited' | 'unchanged'> {
  const ours = (await forge.comments(pullRequest)).find((comment) => linesOf(comment.body)[0] === marker)
  if (ours === undefined) {
    await forge.addComment(pullRequest, body)
    return 'added'
  }
  const lines = linesOf(ours.body)
  if (lines.join('\n').trimEnd() === body.trimEnd() || (keepSameGist && lines[1] === gist)) return 'unchanged'
  await forge.editComment(pullRequest, ours.id, body)
  return 'edited'
}

/** Forges change line breaks. */
function linesOf(body: string): readonly string[] {
  return body.split(/\r?\n/)
}
