import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ProcessOptions } from './serverProcess.ts'

/** The program as a user runs it, built before the tests start. */
const AGENT_PROGRAM = fileURLToPath(new URL('../../dist/pharos-agent.js', import.meta.url))

/** An agent in a process of its own. */
export interface AgentProcess {
  readonly child: ChildProcess
  /** Resolves to the exit code, whatever ends it. */
  readonly exited: Promise<number | null>
  /** Ends the process as a power cut would end its memory; resolves when it is gone. */
  readonly kill: () => Promise<void>
  /** Asks it to stop; resolves to its exit code. */
  readonly stop: () => Promise<number | null>
  /** Everything it wrote so far, to stdout and stderr. */
  readonly output: () => string
  /** Resolves when it has written `text`. */
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
