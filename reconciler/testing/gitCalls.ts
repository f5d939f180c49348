import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A git that records what it is called for. */
export interface GitCalls {
  /** A PATH on which it comes first. */
  readonly path: string
  /** The commands since the last call of this, such as `fetch`. */
  readonly taken: () => readonly string[]
}

/** Records calls of git, in the empty folder `folder`. */
export function gitCalls(folder: string): GitCalls {
  const log = join(folder, 'calls')
  const script = `#!/bin/sh\necho "$1" >>'${log}'\nPATH='${process.env.PATH}' exec git "$@"\n`
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
  return {
    path: `${folder}:${process.env.PATH}`,
    taken: () => {
      const calls = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []
      rmSync(log, { force: true })
      return calls
    },
  }
}
