import { runCommandLine } from '../administration/runCommandLine.ts'

/** What one run of pharos-server left behind. */
export interface CommandRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs pharos-server with exactly `args` in this process, which takes a tenth of the time of a new one, to its end; in
 * the folder `cwd` if it is given, which no other test of this process may mind.
 */
export async function runHere(args: readonly string[], cwd?: string): Promise<CommandRun> {
  const before = process.cwd()
  let stdout = ''
  let stderr = ''
  if (cwd !== undefined) process.chdir(cwd)
  try {
    const code = await runCommandLine(args, {
      write: (text) => {
        stdout += text
      },
      writeError: (text) => {
        stderr += text
      },
      environment: process.env,
    })
    return { code, stdout, stderr }
  } finally {
    if (cwd !== undefined) process.chdir(before)
  }
}
