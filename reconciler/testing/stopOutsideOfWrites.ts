import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'

/** Stops `child` between two writes to the file `state`: the locks of a write that stands still stop everything else. */
export function stopOutsideOfWrites(child: ChildProcess, state: string): void {
  const isStill = (): boolean => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'))
  for (;;) {
    child.kill('SIGSTOP')
    while (!isStill());
    if (!existsSync(state) || isWritable(state)) return
    child.kill('SIGCONT')
  }
}

function isWritable(state: string): boolean {
  const database = new Database(state, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return false
    throw error
  } finally {
    database.close()
  }
}
