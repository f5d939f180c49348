import type { Database } from 'better-sqlite3'

/** Tells whether anything was committed. */
export interface CommittedVersion {
  /**
   * Another number whenever anything was committed since, by this process or another: what was read under the
   * same number still holds. Looked up once for each turn of the event loop.
   */
  readonly current: () => number
  /** Makes the next look a new one. Whoever commits has to call it, so that nobody reads what was before. */
  readonly forget: () => void
}

/** The version of what `reader` sees: all commits but its own, and it makes none. */
export function committedVersion(reader: Database): CommittedVersion {
  const dataVersion = reader.prepare<[], number>('PRAGMA data_version').pluck()
  let version: number | undefined
  const forget = (): void => {
    version = undefined
  }
  return {
    current: () => {
      if (version === undefined) {
        version = dataVersion.get() ?? 0
        setImmediate(forget)
      }
      return version
    },
    forget,
  }
}
