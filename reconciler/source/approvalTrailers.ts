/** The format of `git log` for the trailers `Pharos-Approve: DIGEST` of a commit. */
export const APPROVAL_TRAILERS = '%(trailers:key=Pharos-Approve,valueonly,separator=%x2C)'

/** The digests in the output of APPROVAL_TRAILERS, without invalid values. Pure. */
export function approvalsIn(printed: string): readonly string[] {
  return printed
    .split(',')
    .map((digest) => digest.trim())
    .filter((digest) => /^[0-9a-f]{8,64}$/.test(digest))
}
