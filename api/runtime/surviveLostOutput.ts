/**
 * Lets the program `name` continue when its output cannot be written. Sets the exit code 1, and
 * stderr says why unless the reader closed the pipe.
 */
export function surviveLostOutput(name: string): void {
  process.stdout.on('error', (error: Error & { code?: string }) => {
    process.exitCode = 1
    // The reader closed the pipe and has seen enough.
    if (error.code === 'EPIPE') return
    process.stderr.write(`${name}: stdout cannot be written (${error.message}): redirect it elsewhere\n`)
  })
  // There is no stream left on which to report it.
  process.stderr.on('error', () => {})
}
