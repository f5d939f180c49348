import { readFileSync } from 'node:fs'

/** Maximum number of connections when the system does not limit descriptors: some 20 KiB of memory each. */
const CONNECTIONS_MAX = 10_000
/** Minimum of descriptors for other uses: the database, its long lists, the operator's listener, Node itself. */
const OTHER_DESCRIPTORS_MIN = 64
/** Share of the descriptors for other uses when there are many. */
const OTHER_DESCRIPTORS_SHARE = 0.25
/** Assumed number of descriptors when the system does not report it: a usual limit. */
const DESCRIPTORS_USUAL = 1_024

/** Default connection limit of a process with `descriptors` descriptors; at least 2. Pure. */
export function connectionsFor(descriptors: number): number {
  const others = Math.max(OTHER_DESCRIPTORS_MIN, Math.ceil(descriptors * OTHER_DESCRIPTORS_SHARE))
  return Math.max(2, Math.min(CONNECTIONS_MAX, descriptors - others))
}

/** Number of descriptors that this process may open. Node has already raised the soft limit to the hard one. */
export function descriptorLimit(): number {
  let limits = ''
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Only Linux has this file.
  }
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? DESCRIPTORS_USUAL : Number(soft)
}
