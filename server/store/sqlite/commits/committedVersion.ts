import type { Database } from 'better-sqlite3'

/** Detects commits. */
export interface CommittedVersion {
  /** A number that changes with each commit: values read under the same number are still valid. */
  readonly current: () => number
  /** Changes the number. Every commit must call it, so that no reader gets older data. */
  readonly forget: () => void
}

/** Versions of the committed data, of this process or another. */
export interface CommittedVersions {
  /** Version of all data. */
  readonly all: CommittedVersion
  /** Version of the data that only administration writes: organisations, plans and keys. */
  readonly administration: CommittedVersion
}

/**
 * The versions of the database of `writer`. SQLite reports commits of other processes, without the changed tables, and
 * is queried once per turn of the event loop; this process knows its own commits.
 */
export function committedVersions(writer: Database): CommittedVersions {
  const dataVersion = writer.prepare<[], number>('PRAGMA data_version').pluck()
  let foreign = 0
  let isKnown = false
  const look = (): number => {
    if (!isKnown) {
      foreign = dataVersion.get() ?? 0
      isKnown = true
      setImmediate(() => {
        isKnown = false
      })
    }
    return foreign
  }
  return { all: versionOf(look), administration: versionOf(look) }
}

function versionOf(foreign: () => number): CommittedVersion {
  let version = 0
  let seen: number | undefined
  return {
    current: () => {
      const found = foreign()
      if (found !== seen) version += 1
      seen = found
      return version
    },
    forget: () => {
      version += 1
    },
  }
}
