import type { CommittedVersion } from './committedVersion.ts'

/** The value of `name`, cached until the next commit after it was read. */
export type Remember<Value> = (name: string, read: () => Value) => Value

/**
 * A read cache, cleared by the first commit of any program: plans and drift checks repeat the same reads while nothing
 * changes. It holds at most `sizeMax`, in the unit of `sizeOf`.
 */
export function cacheUntilCommit<Value>(
  version: CommittedVersion,
  sizeMax: number,
  sizeOf: (value: Value) => number,
): Remember<Value> {
  const cache = new Map<string, Value>()
  let size = 0
  let keptAt = -1
  const forget = (): void => {
    cache.clear()
    size = 0
  }
  return (name, read) => {
    const current = version.current()
    if (current !== keptAt) forget()
    keptAt = current
    const known = cache.get(name)
    if (known !== undefined) return known
    const value = read()
    const added = sizeOf(value)
    if (size + added > sizeMax) forget()
    if (added <= sizeMax) {
      cache.set(name, value)
      size += added
    }
    return value
  }
}
