import { CommanderError } from 'commander'
import { type CommandLineParts, commandLine } from './commandLine.ts'
import { type Failure, failureOf } from './failures/failure.ts'
import { ShownFailure } from './failures/shownFailure.ts'

/** Runs `args` (without node and the program); writes a failure, and resolves to the exit code. */
export async function runCommandLine(args: readonly string[], run: CommandLineParts): Promise<number> {
  try {
    await commandLine(run).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof ShownFailure) return 1
    if (!(error instanceof CommanderError)) {
      const failure = failureOf(error)
      run.writeError(`pharos-server: ${failure.message}\n`)
      writeDocument(failure, args, run.write)
      return 1
    }
    // Help was requested; not a failure.
    if (error.exitCode !== 0) {
      // Commander has already printed it.
      writeDocument({ code: 'E_USAGE', message: error.message.replace(/^error: /, '') }, args, run.write)
    }
    return error.exitCode
  }
}

/** With --json, prints the failure as a JSON document. */
function writeDocument(
  { code, message }: Failure,
  args: readonly string[],
  write: CommandLineParts['write'],
): void {
  if (args.includes('--json')) write(`${JSON.stringify({ error: { code, message } })}\n`)
}
