import { APPROVAL_TRAILERS, approvalsIn } from './approvalTrailers.ts'

/** A commit; its texts come from the repository. */
export interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly subject: string
  readonly author: string
  /** ISO 8601. */
  readonly at: string
  /** Digests in its trailers `Pharos-Approve:`. */
  readonly approvals: readonly string[]
}

/** Fields of a commit, separated by zero bytes. */
const FORMAT = `%H%x00%P%x00%<(500,trunc)%s%x00%<(200,trunc)%an%x00%cI%x00${APPROVAL_TRAILERS}`

/** The arguments of git that print the commit of `revision` for `commitIn`. Pure. */
export function commitArgs(revision: string): readonly string[] {
  return ['log', '-1', '--no-mailmap', `--format=${FORMAT}`, revision, '--']
}

/** Parses the output of `commitArgs`. Pure. */
export function commitIn(output: Buffer): Commit {
  const [sha = '', parents = '', subject = '', author = '', at = '', approvals = ''] = output
    .toString('utf8')
    .trimEnd()
    .split('\0')
  return {
    sha,
    parents: parents.split(' ').filter((parent) => parent !== ''),
    subject: shown(subject),
    author: shown(author),
    at,
    approvals: approvalsIn(approvals),
  }
}

/** Replaces control characters. */
function shown(text: string): string {
  return text.trim().replaceAll(/\p{Cc}/gu, '…')
}
