import { readFileSync } from 'node:fs'

/** Most connections where the system allows any number of descriptors: some 20 KiB of memory each. */
const CONNECTIONS_MAX = 10_000
/** Least descriptors for all else: the database, its long lists, the operator's listener, Node itself. */
const OTHER_DESCRIPTORS_MIN = 64
/** Part of the descriptors that is for all else where there are many. */
const OTHER_DESCRIPTORS_SHARE = 0.25
/** Descriptors of a process where the system does not tell: a usual limit. */
const DESCRIPTORS_USUAL = 1_024

/** Most connections that a process with so many `descriptors` has by default; at least 2. Pure. */
export function connectionsFor(descriptors: number): number {
  const others = Math.max(OTHER_DESCRIPTORS_MIN, Math.ceil(descriptors * OTHER_DESCRIPTORS_SHARE))
  return Math.max(2, Math.min(CONNECTIONS_MAX, descriptors - others))
}

/** How many descriptors this process may open. Node has raised the soft limit to the hard one before. */
export function descriptorLimit(): number {
  let limits = ''
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Other systems than Linux have no such file.
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? DESCRIPTORS_USUAL : Number(soft)
}
