import { fork } from 'node:child_process'
import { once } from 'node:events'
import { bundle } from '../server/processes.ts'
import type { Targets } from './targets.ts'

/** Targets in a separate process. */
export interface StartedTargets extends Targets {
  /** Number of requests so far. */
  readonly requests: () => Promise<number>
  readonly stop: () => void
}

/** Starts the targets of targets.ts. */
export async function startTargets(): Promise<StartedTargets> {
  const child = fork(await bundle(new URL('./targets.ts', import.meta.url)), { execArgv: [] })
  // True because the first message has the addresses of the targets, and each reply is a number.
  const [targets] = (await once(child, 'message')) as [Targets]
  return {
    ...targets,
    requests: async () => {
      const reply = once(child, 'message')
      child.send('requests')
      const [requests] = (await reply) as [number]
      return requests
    },
    stop: () => child.disconnect(),
  }
}
