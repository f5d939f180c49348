import { readFileSync } from 'node:fs'
import { codeOf } from './errorCode.ts'

/** Positions of state and start time in `/proc/PID/stat` after the name of the program. Source: proc_pid_stat(5). */
const STATE_FIELD = 0
const START_FIELD = 19

/**
 * The id of a running process and, if the system provides it, its start time in clock ticks, which distinguishes it
 * from a later process with the same id: `1234 567890`, or `1234 `. `undefined` when there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists, but runs as another user.
    if (codeOf(error) !== 'EPERM') return undefined
  }
  const fields = statFields(pid)
  return fields[STATE_FIELD] === 'Z' ? undefined : `${pid} ${fields[START_FIELD] ?? ''}`
}

function statFields(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program before them may contain any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    // Other systems than Linux have no such file.
    return []
  }
}
