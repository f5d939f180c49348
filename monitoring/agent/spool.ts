import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { codeOf } from '../../api/runtime/errorCode.ts'
import { fileReason } from '../../api/runtime/fileReason.ts'
import { makeFolder, OWNER_ONLY } from '../../api/runtime/makeFolder.ts'
import { processIdentity } from '../../api/runtime/processIdentity.ts'
import { type Backlog, newestOfEach } from './backlog.ts'
import { type QueuedResult, queuedResultSchema } from './queuedResult.ts'

/**
 * Size at which a file is closed (bytes), or a fraction of a small spool. The oldest file is removed when the spool is
 * full.
 */
const FILE_BYTES_MAX = 4 * 1_024 * 1_024
const FILES_MIN = 8
/** Maximum size of the refused results that are kept for people to read (bytes). */
const REFUSED_BYTES_MAX = 1_024 * 1_024
const REFUSED_FILE = 'refused.jsonl'
/** The file with the id of the process that uses the folder, and its start time where the system provides it. */
const LOCK_FILE = 'lock'
const SPOOL_FILE = /^(\d{10})\.jsonl$/
const CRC_CHARS = 8
const LINE_END = 0x0a
/** Errors of reading a file that pass without a change of the file: no descriptors or memory, or no permission. */
const PASSING_FAULTS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EPERM'])

/** A part of the spool that could not be used. */
export interface SpoolProblem {
  readonly file: string
  /** Line number from 1; absent when the whole file is affected. */
  readonly line?: number
  readonly reason: string
  /** Number of lost results. */
  readonly results: number
}

/** Settings of a spool. */
export interface SpoolSettings {
  readonly folder: string
  /** Maximum total size of the files. */
  readonly bytesMax: number
  readonly onTrouble: (trouble: SpoolProblem) => void
}

interface SpoolFile {
  readonly number: number
  bytes: number
  results: number
}

/**
 * Opens the spool in `folder`, with the results that an earlier process left there. Rejects when another agent uses it,
 * or when it cannot be written. It contains no secrets: definitions are never on disk.
 */
export async function openSpool(settings: SpoolSettings): Promise<Backlog> {
  const { folder } = settings
  makeFolder(folder, OWNER_ONLY)
  await takeLock(join(folder, LOCK_FILE))
  const names = (await readdir(folder)).flatMap((name) => SPOOL_FILE.exec(name)?.[1] ?? [])
  const numbers = names.map(Number).toSorted((a, b) => a - b)
  const files: SpoolFile[] = []
  for (const number of numbers) {
    const file = fileOf(folder, number)
    try {
      const bytes = await readFile(file)
      files.push({ number, bytes: bytes.length, results: bytes.filter((byte) => byte === LINE_END).length })
    } catch (error) {
      settings.onTrouble({ file, reason: fileReason(error), results: 0 })
    }
  }
  return new Spool(settings, files, numbers.at(-1) ?? 0)
}

class Spool implements Backlog {
  readonly #settings: SpoolSettings
  /** The oldest first. */
  readonly #files: SpoolFile[]
  /** The file to which results are added; `undefined` before the next one is started. */
  #newest: SpoolFile | undefined
  /** The file that `oldest` returned. */
  #given: SpoolFile | undefined
  #lastNumber: number
  #dropped = 0
  #refusedBytes = 0
  /** Serialises writes. */
  #writing: Promise<void> = Promise.resolve()

  constructor(settings: SpoolSettings, files: SpoolFile[], lastNumber: number) {
    this.#settings = settings
    this.#files = files
    this.#lastNumber = lastNumber
  }

  get count(): number {
    return this.#files.reduce((sum, { results }) => sum + results, 0)
  }

  get dropped(): number {
    return this.#dropped
  }

  add(results: readonly QueuedResult[]): Promise<void> {
    return this.#inOrder(async () => {
      const lines = results.map(lineOf).join('')
      this.#newest ??= this.#begin()
      const file = this.#newest
      const handle = await open(fileOf(this.#settings.folder, file.number), 'a', 0o600)
      try {
        await handle.appendFile(lines)
        await handle.datasync()
      } catch (error) {
        // A part of the lines may have been written, as on a full disk. When it cannot be cut off, another file is
        // started: damaged lines are skipped, and whole ones are delivered twice and count once.
        await handle.truncate(file.bytes).catch(() => {
          this.#newest = undefined
        })
        throw error
      } finally {
        file.bytes = (await handle.stat()).size
        await handle.close()
      }
      file.results += results.length
      const bytesMax = Math.min(FILE_BYTES_MAX, this.#settings.bytesMax / FILES_MIN)
      if (file.bytes >= bytesMax) this.#newest = undefined
      await this.#makeRoom()
    })
  }

  oldest(): Promise<readonly QueuedResult[]> {
    return this.#inOrder(async () => {
      for (let file = this.#files[0]; file !== undefined; file = this.#files[0]) {
        // Later results go to another file, because this one is removed as a whole.
        if (this.#newest === file) this.#newest = undefined
        const results = await this.#read(file)
        if (results === undefined) {
          this.#files.shift()
          continue
        }
        this.#given = file
        if (results.length > 0) return results
        await this.#remove(file)
      }
      return []
    })
  }

  newest(): Promise<readonly QueuedResult[]> {
    return this.#inOrder(async () => {
      let newest: readonly QueuedResult[] = []
      // Damaged lines are reported when their file is delivered. One file is read at a time, because all may not fit in
      // memory.
      for (const { number } of this.#files) {
        const text = await readFile(fileOf(this.#settings.folder, number), 'utf8').catch(() => '')
        newest = newestOfEach([newest, text.split('\n').flatMap((line) => resultOf(line) ?? [])])
      }
      return newest
    })
  }

  forget(): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#given !== undefined) await this.#remove(this.#given)
      this.#given = undefined
    })
  }

  putAside(result: QueuedResult, reason: string): Promise<void> {
    return this.#inOrder(async () => {
      const line = `${JSON.stringify({ reason, result })}\n`
      this.#refusedBytes += line.length
      if (this.#refusedBytes > REFUSED_BYTES_MAX) return
      const flag = this.#refusedBytes === line.length ? 'w' : 'a'
      await writeFile(join(this.#settings.folder, REFUSED_FILE), line, { flag, mode: 0o600 })
    })
  }

  async close(): Promise<void> {
    await this.#writing
    await rm(join(this.#settings.folder, LOCK_FILE), { force: true })
  }

  #begin(): SpoolFile {
    this.#lastNumber += 1
    const file = { number: this.#lastNumber, bytes: 0, results: 0 }
    this.#files.push(file)
    return file
  }

  /** Removes the oldest files while the total size is too large. */
  async #makeRoom(): Promise<void> {
    let bytes = this.#files.reduce((sum, file) => sum + file.bytes, 0)
    for (
      let file = this.#files[0];
      file !== undefined && bytes > this.#settings.bytesMax;
      file = this.#files[0]
    ) {
      if (this.#files.length === 1) return
      bytes -= file.bytes
      this.#dropped += file.results
      await this.#remove(file)
    }
  }

  async #remove(file: SpoolFile): Promise<void> {
    const index = this.#files.indexOf(file)
    if (index === -1) return
    await rm(fileOf(this.#settings.folder, file.number), { force: true })
    this.#files.splice(index, 1)
  }

  /**
   * The results in a file. Damaged lines are skipped and reported with their numbers. `undefined` for a file that cannot
   * be read, which is reported too. Rejects when a later attempt may succeed.
   */
  async #read({ number, results }: SpoolFile): Promise<readonly QueuedResult[] | undefined> {
    const file = fileOf(this.#settings.folder, number)
    let text: string
    try {
      text = await readFile(file, 'utf8')
    } catch (error) {
      if (PASSING_FAULTS.has(codeOf(error)))
        throw new Error(`${file} cannot be read: ${fileReason(error)}`, { cause: error })
      this.#report({ file, reason: fileReason(error), results })
      return undefined
    }
    return text.split('\n').flatMap((line, index) => {
      if (line === '') return []
      const result = resultOf(line)
      if (result !== undefined) return [result]
      this.#report({ file, line: index + 1, reason: 'the line is damaged', results: 1 })
      return []
    })
  }

  #report(trouble: SpoolProblem): void {
    this.#dropped += trouble.results
    this.#settings.onTrouble(trouble)
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#writing.then(work)
    this.#writing = done.then(
      () => {},
      () => {},
    )
    return done
  }
}

function fileOf(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(10, '0')}.jsonl`)
}

function crcOf(json: string): string {
  return zlib.crc32(json).toString(16).padStart(CRC_CHARS, '0')
}

function lineOf(result: QueuedResult): string {
  const json = JSON.stringify(result)
  return `${crcOf(json)} ${json}\n`
}

/** The result of a line; `undefined` when it is damaged. */
function resultOf(line: string): QueuedResult | undefined {
  const json = line.slice(CRC_CHARS + 1)
  if (line.slice(0, CRC_CHARS) !== crcOf(json)) return undefined
  const read = queuedResultSchema.safeParse(JSON.parse(json))
  return read.success ? read.data : undefined
}

/**
 * Locks the folder for this process, unless the disk is full. A process that died leaves its lock file behind, which then
 * locks nothing.
 */
async function takeLock(file: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const [, pid, start] = /^([1-9]\d*)(?: (\d+))?$/.exec(text) ?? []
  const holder = pid === undefined ? undefined : processIdentity(Number(pid))
  // After a restart of the machine another program may have the same process id.
  const isHeld = holder !== undefined && (start === undefined || holder === text)
  if (isHeld && Number(pid) !== process.pid) {
    throw new Error(
      `the spool is used by the agent with process id ${pid}: name another folder (or remove ${file})`,
    )
  }
  try {
    await writeFile(file, `${processIdentity(process.pid)}`.trimEnd(), { mode: 0o600 })
  } catch (error) {
    // Checks whose results wait in memory are worth more than the lock.
    if (codeOf(error) !== 'ENOSPC') throw error
  }
}
