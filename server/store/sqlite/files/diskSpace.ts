import { randomBytes, randomUUID } from 'node:crypto'
import {
  closeSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DiskFullError } from '../../shared/diskFullError.ts'

/** File below the data folder that reserves space for operations that free space. */
export const RESERVE_FILE = 'reserve'
const MIB = 1_024 * 1_024
/** Reserved space (bytes): the size of a log that the database still has to absorb, 4,000 pages of 4 KiB. */
export const RESERVE_BYTES = 16 * MIB
/** Part of the reserve that stays (bytes): opening the database after a restart takes 32 KiB. */
const OPENING_BYTES = 64 * 1_024
/** Free space below which the disk counts as full: some of the largest requests (bytes). */
const FREE_BYTES_MIN = 4 * MIB

/**
 * Disk space of a data folder. A file reserves part of it; when a write finds the disk full, the reserve is freed. From
 * then on, only mutations that free space are written, until the reserve can be filled again. The size of the file
 * records this for other programs and the next start.
 */
export class DiskSpace {
  readonly #dataDir: string
  readonly #file: string
  #isFull = false

  constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.#file = join(dataDir, RESERVE_FILE)
  }

  /** Frees the space for opening the database, if the disk is full. */
  prepareOpening(): void {
    // A missing or invalid data folder is handled where the database is opened.
    if (!isFolder(this.#dataDir)) return
    const size = this.#heldBytes()
    if (size === undefined || freeBytes(this.#dataDir) >= FREE_BYTES_MIN) return
    truncateSync(this.#file, size > OPENING_BYTES ? OPENING_BYTES : 0)
  }

  /** Reserves space for the next opening again, if there is any. */
  prepareNextOpening(): void {
    if (this.#heldBytes() !== 0) return
    try {
      hold(this.#file, OPENING_BYTES)
    } catch {
      // Another program took the space: the next start may fail.
    }
  }

  /** Throws DiskFullError while only mutations that free space are accepted. */
  assertGrowth(): void {
    if (this.#isFull) throw new DiskFullError('data folder')
  }

  /** Frees the reserve; returns whether there was any. From then on the disk counts as full. */
  release(): boolean {
    const size = this.#heldBytes()
    if (size === undefined || size <= OPENING_BYTES) return false
    truncateSync(this.#file, OPENING_BYTES)
    this.#isFull = true
    return true
  }

  /**
   * Checks again, and fills the reserve if there is space; returns whether the disk is full. `unusedBytes` inside the
   * database, left by deletions, count as space too.
   */
  look(unusedBytes: number): boolean {
    const size = this.#heldBytes()
    const free = freeBytes(this.#dataDir)
    const isHeld = size === RESERVE_BYTES || (free >= RESERVE_BYTES + FREE_BYTES_MIN && this.#holdAll())
    const isEnough = free >= FREE_BYTES_MIN
    // On a disk that never had space for the reserve, the server continues as long as it can.
    this.#isFull = !isHeld && !(isEnough && (size === undefined || unusedBytes >= FREE_BYTES_MIN))
    return this.#isFull
  }

  #heldBytes(): number | undefined {
    return statSync(this.#file, { throwIfNoEntry: false })?.size
  }

  #holdAll(): boolean {
    const temporary = `${this.#file}.${randomUUID()}`
    try {
      hold(temporary, RESERVE_BYTES)
      renameSync(temporary, this.#file)
      return true
    } catch {
      rmSync(temporary, { force: true })
      return false
    }
  }
}

/** Fills `file` with `bytes` incompressible bytes. */
function hold(file: string, bytes: number): void {
  const part = randomBytes(Math.min(MIB, bytes))
  const descriptor = openSync(file, 'w', 0o600)
  try {
    for (let held = 0; held < bytes; held += MIB) writeSync(descriptor, part, 0, Math.min(MIB, bytes - held))
  } finally {
    closeSync(descriptor)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Space on the disk of `folder` that programs without privileges may use (bytes). */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
