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

/** File below the data folder that holds room for what frees room. */
const RESERVE_FILE = 'reserve'
const MIB = 1_024 * 1_024
/** Room that is held back (bytes): as much as the log may have that the database still has to take, 4,000 pages of 4 KiB. */
const RESERVE_BYTES = 16 * MIB
/** Part of the reserve that is kept when it is used (bytes): opening the database takes 32 KiB, and a restart must be possible. */
const OPENING_BYTES = 64 * 1_024
/** Room on the disk below which it counts as full: some of the largest requests (bytes). */
const ROOM_BYTES_MIN = 4 * MIB

/** The refusal of a mutation that would take room; nothing was changed. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError'
  readonly code = 'ENOSPC'

  constructor() {
    super('the disk of the data folder is full: only requests that free space are accepted; free some space')
  }
}

/**
 * The room on the disk of a data folder. A part of it is held back in a file, and given free when a write finds the disk
 * full: from then on only what frees room is written, until there is enough for the file again. The file says how it
 * stands, so that programs beside a server, and the next start, know.
 */
export class DiskRoom {
  readonly #dataDir: string
  readonly #file: string
  #isFull = false

  constructor(dataDir: string) {
    this.#dataDir = dataDir
    this.#file = join(dataDir, RESERVE_FILE)
  }

  /** Gives free what opening the database takes, if the disk is full. */
  prepareOpening(): void {
    // A data folder that is not there yet, or is none, is made or refused where the database is opened.
    if (!isFolder(this.#dataDir)) return
    const size = this.#heldBytes()
    if (size === undefined || freeBytes(this.#dataDir) >= ROOM_BYTES_MIN) return
    truncateSync(this.#file, size > OPENING_BYTES ? OPENING_BYTES : 0)
  }

  /** Holds room for the next opening back again, where there is any. */
  prepareNextOpening(): void {
    if (this.#heldBytes() !== 0) return
    try {
      hold(this.#file, OPENING_BYTES)
    } catch {
      // Another program was faster: the next start has to find its room by itself.
    }
  }

  /** Throws DiskFullError while only what frees room is taken. */
  assertGrowth(): void {
    if (this.#isFull) throw new DiskFullError()
  }

  /** Gives the room free that is held back; whether there was any. From then on the disk counts as full. */
  release(): boolean {
    const size = this.#heldBytes()
    if (size === undefined || size <= OPENING_BYTES) return false
    truncateSync(this.#file, OPENING_BYTES)
    this.#isFull = true
    return true
  }

  /**
   * Looks anew, and holds room back where there is enough; whether the disk is full. Room of `unusedBytes` within the
   * database, which what was deleted has left, counts as well.
   */
  look(unusedBytes: number): boolean {
    const size = this.#heldBytes()
    const free = freeBytes(this.#dataDir)
    const isHeld = size === RESERVE_BYTES || (free >= RESERVE_BYTES + ROOM_BYTES_MIN && this.#holdAll())
    const isEnough = free >= ROOM_BYTES_MIN
    // On a disk that never had room for the reserve, the server goes on as far as it can.
    this.#isFull = !isHeld && !(isEnough && (size === undefined || unusedBytes >= ROOM_BYTES_MIN))
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

/** Makes `file` of so many bytes, which no file system can store in less. */
function hold(file: string, bytes: number): void {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    for (let held = 0; held < bytes; held += MIB)
      writeSync(descriptor, randomBytes(Math.min(MIB, bytes - held)))
  } finally {
    closeSync(descriptor)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
