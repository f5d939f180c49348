/** A failure that the output of the command already shows: only the exit code is missing. */
export class ShownFailure extends Error {
  override readonly name = 'ShownFailure'
}
