import { hostname } from 'node:os'
import { codeOf } from '../../../api/runtime/errorCode.ts'

/** The name of this process as the holder of a lease. */
export function holderName(): string {
  return `pharos on ${hostname()}, process ${process.pid}`
}

const HOLDER = /^pharos on (.+), process (\d+)$/

/** Whether `holder` was a process on this machine that has ended. False when unknown. */
export function hasEndedHere(holder: string): boolean {
  const [, host, pid] = HOLDER.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    // Signal 0 only tests whether the process exists.
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}
