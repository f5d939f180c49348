import { readdirSync, readFileSync } from 'node:fs'

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
