/** What of a stream is needed to hear that it cannot be written to. */
interface Breakable {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  write(text: string): unknown
}

/**
 * Keeps a run going when its output cannot be written: an apply that stopped there would leave half of its
 * work undone. A reader that stops early, as head does, is no error; anything else is reported once on `stderr`
 * and calls `onLoss`.
 */
export function surviveBrokenOutput(
  { stdout, stderr }: { readonly stdout: Breakable; readonly stderr: Breakable },
  onLoss: () => void,
): void {
  let isReported = false
  stdout.on('error', (error) => {
    if (isReported || error.code === 'EPIPE') return
    isReported = true
    stderr.write(`error the output cannot be written: ${error.message}\n`)
    onLoss()
  })
  // There is nowhere left to say it.
  stderr.on('error', () => {})
}
