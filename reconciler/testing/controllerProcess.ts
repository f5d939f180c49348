import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ControllerEvent } from '../controller/status/status.ts'

const PROGRAM = join(import.meta.dirname, '../../dist/pharos.js')

/** A controller in a process of its own, as a user runs it. */
export interface ControllerProcess {
  readonly child: ChildProcess
  readonly replica: string
  /** Its events so far. */
  readonly events: readonly ControllerEvent[]
  readonly stderr: () => string
  /** Resolves with the first event that fits, from now on or, with `since`, after so many events. Rejects when the process ends first. */
  readonly event: (fits: (event: ControllerEvent) => boolean, since?: number) => Promise<ControllerEvent>
  readonly signal: (signal: NodeJS.Signals) => void
  /** Resolves with the exit code, null after a signal. */
  readonly ended: Promise<number | null>
}

/** Starts `pharos controller` with the configuration `config`. It has nothing else of our environment. */
export function controllerProcess(
  config: string,
  replica: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): ControllerProcess {
  const child = spawn(process.execPath, [PROGRAM, 'controller', '--config', config, ...args], {
    env: { PATH: process.env.PATH ?? '', PHAROS_REPLICA: replica, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const events: ControllerEvent[] = []
  let stderr = ''
  const listeners = new Set<() => void>()
  const tellAll = (): void => {
    for (const listener of [...listeners]) listener()
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line))
    tellAll()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  let hasEnded = false
  // Not 'exit', at which some of the output may still be unread.
  const ended = once(child, 'close').then(([code]: unknown[]) => {
    hasEnded = true
    tellAll()
    return typeof code === 'number' ? code : null
  })
  return {
    child,
    replica,
    events,
    stderr: () => stderr,
    event: (fits, since = events.length) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.slice(since).find(fits)
          if (found === undefined && !hasEnded) return
          listeners.delete(look)
          if (found === undefined) reject(new Error(`${replica} ended before that event: ${stderr}`))
          else resolve(found)
        }
        listeners.add(look)
        look()
      }),
    signal: (signal) => {
      child.kill(signal)
    },
    ended,
  }
}
