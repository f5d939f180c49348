import { type Finding, findingOf } from '../../finding.ts'

const MIB = 1_024 * 1_024
const DAY_MS = 24 * 60 * 60 * 1_000
/** Free space below which the server refuses changes, and below which it soon may (bytes). */
const FREE_BYTES_MIN = 20 * MIB
const FREE_BYTES_LOW = 1_024 * MIB
/** Age from which a backup is old, and a database needs one (milliseconds). */
const BACKUP_AGE_MS_MAX = 7 * DAY_MS
/** Permission bits of the group and all others. */
const OTHERS_MODE = 0o077

/** File systems on other machines, on which SQLite's shared memory and locks do not work: NFS, SMB, CIFS, 9P. */
const REMOTE_TYPES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff_53_4d_42, 'CIFS'],
  [0xfe_53_4d_42, 'SMB'],
  [0x01_02_19_97, '9P'],
])

/** Facts about a data folder that decide whether a server can use it. */
export interface FolderFacts {
  readonly dataDir: string
  readonly journalMode: string
  /** 2 is FULL, 3 is EXTRA. */
  readonly synchronous: number
  /** Result of the integrity check; `undefined` when not requested. */
  readonly integrity: string | undefined
  /** As `statfs` numbers file systems. */
  readonly fileSystem: number
  /** Permission bits of the folder and of the database. */
  readonly modes: readonly number[]
  readonly freeBytes: number
  /** Age of the database, and of its last backup; `undefined` when there is none (milliseconds). */
  readonly ageMs: number
  readonly backupAgeMs: number | undefined
}

/** Findings about a data folder: durability, damage, disk, backup, permissions. Pure. */
export function judgeFolder(facts: FolderFacts): readonly Finding[] {
  return [
    judgeDurability(facts),
    ...judgeIntegrity(facts),
    judgeFileSystem(facts),
    judgeDisk(facts),
    judgeBackup(facts),
    judgePermissions(facts),
  ]
}

function judgeDurability({ journalMode, synchronous }: FolderFacts): Finding {
  return findingOf('durability', {
    health: 'refused',
    problem:
      journalMode === 'wal' && synchronous >= 2
        ? undefined
        : `journal_mode is ${journalMode} and synchronous is ${synchronous} where wal and 2 are needed: the file system may not support shared memory`,
    ok: 'a commit is on disk (journal_mode wal, synchronous full)',
  })
}

function judgeIntegrity({ integrity }: FolderFacts): readonly Finding[] {
  if (integrity === undefined) return []
  const problem = integrity === 'ok' ? undefined : `the database is damaged (${integrity}): restore a backup`
  return [findingOf('integrity', { health: 'refused', problem, ok: 'no page of the database is damaged' })]
}

function judgeFileSystem({ fileSystem, dataDir }: FolderFacts): Finding {
  const remote = REMOTE_TYPES.get(fileSystem)
  return findingOf('file_system', {
    health: 'broken',
    problem:
      remote === undefined
        ? undefined
        : `${dataDir} is on ${remote}, where locks and flushes cannot be relied on: use a local disk`,
    ok: 'local',
  })
}

function judgeDisk({ freeBytes }: FolderFacts): Finding {
  const free = `${Math.floor(freeBytes / MIB)} MiB are free`
  const isFull = freeBytes < FREE_BYTES_MIN
  return findingOf('disk', {
    health: isFull ? 'broken' : 'warning',
    problem:
      freeBytes < FREE_BYTES_LOW ? `only ${free} on the disk of the data folder: free some space` : undefined,
    ok: free,
  })
}

function judgeBackup({ ageMs, backupAgeMs }: FolderFacts): Finding {
  const days = (ms: number) => `${(ms / DAY_MS).toFixed(1)} days`
  const remedy = 'make one with "pharos-server backup", or let serve make them (--backup-to)'
  const problem =
    backupAgeMs === undefined
      ? ageMs > BACKUP_AGE_MS_MAX
        ? `the database is ${days(ageMs)} old and has no backup: ${remedy}`
        : undefined
      : backupAgeMs > BACKUP_AGE_MS_MAX
        ? `the last backup is ${days(backupAgeMs)} old: ${remedy}`
        : undefined
  const ok = backupAgeMs === undefined ? 'none yet' : `the last one is ${days(backupAgeMs)} old`
  return findingOf('backup', { health: 'warning', problem, ok })
}

function judgePermissions({ modes, dataDir }: FolderFacts): Finding {
  const isOpen = modes.some((mode) => (mode & OTHERS_MODE) !== 0)
  return findingOf('permissions', {
    health: 'warning',
    problem: isOpen
      ? `other users of this machine may read ${dataDir}: run "chmod -R go-rwx ${dataDir}"`
      : undefined,
    ok: 'only its owner may read the data folder',
  })
}
