import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks of the kernel per second: 100 on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** CPU time of a process, user and system (seconds); `isWithEnded` adds its children that have ended. Linux only. */
function secondsOf(pid: number, isWithEnded: boolean): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name before the parenthesis may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const counted = fields.slice(11, isWithEnded ? 15 : 13)
  return counted.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}

/** CPU time so far of the process `pid` and of all its children (microseconds). Linux only. */
export function cpuMicrosOf(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        return parentOf(child) === pid
      } catch {
        // The process has ended since.
        return false
      }
    })
  const seconds = children.reduce((sum, child) => sum + secondsOf(child, false), secondsOf(pid, true))
  return seconds * 1_000_000
}
