import type { Database } from 'better-sqlite3'

/** Tells whether anything was committed. */
export interface CommittedVersion {
  /** A number that changes with each commit: values that were read under the same number still hold. */
  readonly current: () => number
  /** Changes the number. Every commit has to call it, so that no reader gets what was before. */
  readonly forget: () => void
}

/** Versions of the committed data, of this process or another. */
export interface CommittedVersions {
  /** Of everything. */
  readonly all: CommittedVersion
  /** Of what only administration writes: organisations, plans and keys. */
  readonly administration: CommittedVersion
}

/**
 * The versions of the database that `writer` writes. SQLite tells it of the commits of other processes, without
 * saying what they wrote, and is asked once for each turn of the event loop; of its own this process knows.
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
