import { hostname } from 'node:os'

/** What this process calls itself as the holder of a lease, for people. */
export function holderName(): string {
  return `pharos on ${hostname()}, process ${process.pid}`
}

const HOLDER = /^pharos on (.+), process (\d+)$/

/** Whether `holder` was a process of this machine that has ended. False also where that cannot be known. */
export function isGoneHere(holder: string): boolean {
  const [, host, pid] = HOLDER.exec(holder) ?? []
  if (host !== hostname()) return false
  try {
    // Sends nothing: it only asks whether there is such a process.
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
