import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runProgram } from '../cli/program.ts'
import type { Interruption } from '../cli/session/interruption.ts'

/** What one run of the program left behind. */
export interface ProgramRun {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** No signal interrupts the program. */
export const neverInterrupted: Interruption = {
  exitCode: () => undefined,
  onStop: () => {},
  beforeEnd: () => {},
}

/**
 * Runs the program with exactly `args` in this process, which takes a tenth of the time of a new one: the tests beside
 * main.ts start whole programs. `cwd` is only what output is relative to.
 */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  { cwd = '/', interruption = neverInterrupted }: { cwd?: string; interruption?: Interruption } = {},
): Promise<ProgramRun> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const written = [text(stdout), text(stderr)] as const
  const exitCode = await runProgram(
    ['node', 'pharos', ...args],
    { stdout, stderr, env: { PATH: process.env.PATH, ...env }, cwd },
    interruption,
  )
  stdout.end()
  stderr.end()
  return { exitCode, stdout: await written[0], stderr: await written[1] }
}
