/** The part of a stream that reports write errors. */
interface Breakable {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  write(text: string): unknown
}

/**
 * Continues a run whose output cannot be written, so that an apply is not interrupted halfway. A reader that stops early,
 * such as head, is not an error; any other failure is reported once on `stderr` and calls `onLoss`.
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
  // There is no stream left on which to report it.
  stderr.on('error', () => {})
}
