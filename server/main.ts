import { CommanderError } from 'commander'
import { commandLine } from './administration/commandLine.ts'
import { type Failure, failureOf } from './administration/failure.ts'

async function main(): Promise<void> {
  await commandLine({
    write: (text) => process.stdout.write(text),
    environment: process.env,
  }).parseAsync()
}

/** Prints the failure as text and, with --json, as one document. The exit code says no more. */
function report({ code, message }: Failure, isWritten: boolean): void {
  if (!isWritten) process.stderr.write(`pharos-server: ${message}\n`)
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`)
  }
}

process.stdout.on('error', (error: Error & { code?: string }) => {
  process.exitCode = 1
  // The reader closed the pipe and has seen enough. A server goes on in either case.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos-server: stdout cannot be written (${error.message}): name another\n`)
})

main().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode
    // Help was asked for, and is not a failure.
    if (error.exitCode === 0) return
    report({ code: 'E_USAGE', message: error.message.replace(/^error: /, '') }, true)
    return
  }
  process.exitCode = 1
  report(failureOf(error), false)
})
