/** What a commit shows of a set. */
export type CommitState = 'pending' | 'success' | 'failure'

/** A status of a commit, as it is or as it shall be. */
export interface CommitMark {
  readonly state: CommitState
  /** One line; shortened to what the forge takes. */
  readonly description: string
}

/** Something that keeps repositories and their pull requests. Its calls throw ForgeRefused and Unreachable. */
export interface Forge {
  /** The newest mark of `context` on `sha`; null when there is none. */
  readonly commitMark: (sha: string, context: string) => Promise<CommitMark | null>
  /** Puts a mark on a commit. `targetUrl` is where to read more; null for nowhere. */
  readonly markCommit: (
    sha: string,
    context: string,
    mark: CommitMark,
    targetUrl: string | null,
  ) => Promise<void>
  /** Numbers of the pull requests that brought `sha`, the newest first; empty when none did. */
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

/** A comment that stays one, however often it is written anew. */
export interface StickyComment {
  /** First line, by which it is found again: an HTML comment, which pages do not show. */
  readonly marker: string
  /** Second line: what the comment says, for us. */
  readonly gist: string
  /** All of it, with both lines. */
  readonly body: string
}

/**
 * Writes the one comment on `pullRequest` that begins with the marker: edits it where it is there, and differs.
 * With `keepSameGist` it is left alone where it says the same in other words.
 */
export async function stickComment(
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

/** Forges store line breaks as they like. */
function linesOf(body: string): readonly string[] {
  return body.split(/\r?\n/)
}
