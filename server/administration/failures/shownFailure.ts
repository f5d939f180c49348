/** A failure that the output of the command has shown: the exit code is all that is left to say. */
export class ShownFailure extends Error {
  override readonly name = 'ShownFailure'
}
