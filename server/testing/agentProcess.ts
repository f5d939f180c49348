import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ProcessOptions } from './serverProcess.ts'

/** The built program that users run; the build precedes the tests. */
const AGENT_PROGRAM = fileURLToPath(new URL('../../dist/pharos-agent.js', import.meta.url))

/** An agent in a separate process. */
export interface AgentProcess {
  readonly child: ChildProcess
  /** Resolves with the exit code, for any end. */
  readonly exited: Promise<number | null>
  /** Kills the process, which loses its memory as in a power cut. Resolves when it has exited. */
  readonly kill: () => Promise<void>
  /** Asks the process to stop. Resolves with the exit code. */
  readonly stop: () => Promise<number | null>
  /** The output so far, from stdout and stderr. */
  readonly output: () => string
  /** Resolves once the output contains `text`. */
  readonly wrote: (text: string) => Promise<void>
}

/** Starts the built program with `args`. */
export function startAgentProcess(
  args: readonly string[],
  { environment = {}, under = [] }: Partial<Pick<ProcessOptions, 'environment' | 'under'>> = {},
): AgentProcess {
  const [command = '', ...first] = [...under, process.execPath, AGENT_PROGRAM]
  const child = spawn(command, [...first, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      child.emit('output')
    })
  }
  const exited = once(child, 'close').then(() => child.exitCode)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  return {
    child,
    exited,
    kill: async () => {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    output: () => output,
    wrote: async (text) => {
      while (!output.includes(text)) {
        if (child.exitCode !== null) throw new Error(output)
        await once(child, 'output')
      }
    },
  }
}
