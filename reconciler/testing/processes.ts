import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { ProgramRun } from './programHere.ts'

/** Numbers of the processes of this machine whose arguments, which everybody can read, name `text`. */
export function processesNaming(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(text))
    .map(Number)
}

function argumentsOf(name: string): string {
  try {
    return readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch (error) {
    // It ended in the meantime.
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH'].includes(String(error.code)))
      return ''
    throw error
  }
}

/** Resolves when `child` has ended and its output has been read. */
export function finished(child: ChildProcess): Promise<ProgramRun> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
}
