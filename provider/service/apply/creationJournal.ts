/** A journal of creations by runs on this machine, in which a killed run leaves a trace. */
import { createHash, randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, OWNER_ONLY } from '../../../api/runtime/makeFolder.ts'
import type { TerraformRun } from './terraformRun.ts'

/** Time for which an open creation is kept (milliseconds): a week. */
const REMEMBERED_MS = 7 * 24 * 3_600_000
/** Time for which an obsolete file is kept (milliseconds). */
const SETTLED_MS = 3_600_000
/**
 * Maximum size of a file that is read (bytes): about 10,000 creations, which is more than the rate limit allows in one
 * run.
 */
const FILE_BYTES_MAX = 4 * 1024 * 1024

const lineSchema = z.union([
  z.object({
    intent: z.string(),
    atMs: z.number(),
    digest: z.string(),
    owner: z.string(),
    workspace: z.string(),
  }),
  z.object({ made: z.string(), id: z.string() }),
  z.object({ held: z.string() }),
  z.object({ void: z.string() }),
])
type Line = z.infer<typeof lineSchema>

/** A creation, recorded before its request is sent. */
export interface Intent {
  /** Random part of the idempotency key. */
  readonly nonce: string
  /** Time of the record (milliseconds since the epoch). */
  readonly atMs: number
  /** Salted hash of the definition, which reveals nothing about it. */
  readonly digest: string
  /** From TerraformRun, like `workspace`. */
  readonly owner: string
  readonly workspace: string
  /** Id of the created service; `undefined` without a recorded response. */
  readonly id: string | undefined
  readonly file: string
}

/** The contents of the journal: open creations, and ids of services that are in a state. */
export interface Records {
  readonly open: readonly Intent[]
  readonly held: ReadonlySet<string>
}

/**
 * Files in one folder, one for each process. A line is appended before a request is sent, after its response, and once
 * Terraform is known to have the service in a state. The constructor and methods throw the error of Node when the
 * folder is not writable.
 */
export class CreationJournal {
  readonly #folder: string
  readonly #run: TerraformRun
  readonly #nowMs: () => number
  readonly #ownFile: string
  readonly #made: string[] = []
  readonly #noted = new Set<string>()

  constructor(folder: string, run: TerraformRun, nowMs: () => number = Date.now) {
    makeFolder(folder, OWNER_ONLY)
    this.#folder = folder
    this.#run = run
    this.#nowMs = nowMs
    this.#ownFile = join(folder, `${nowMs()}-${process.pid}-${randomUUID()}.jsonl`)
    // Tested by writing, because permission bits do not reveal another owner or a read-only disk.
    writeFileSync(this.#ownFile, '', { mode: 0o600 })
    rmSync(this.#ownFile)
    run.onOrderlyEnd(() => this.#settle())
  }

  /** Records that `what` is about to be created; durable when it returns. */
  begin(what: string, nonce: string = randomUUID()): Intent {
    const digest = digestOf(nonce, what)
    const { owner, workspace } = this.#run
    const line = { intent: nonce, atMs: this.#nowMs(), digest, owner, workspace }
    const descriptor = openSync(this.#ownFile, 'a', 0o600)
    try {
      writeSync(descriptor, `${JSON.stringify(line)}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    return { nonce, atMs: line.atMs, digest, owner, workspace, id: undefined, file: this.#ownFile }
  }

  /** Records that the creation returned service `id`. */
  made({ nonce, file }: Intent, id: string): void {
    this.#made.push(id)
    append(file, { made: nonce, id })
  }

  /** Records that the creation had no effect, or was replaced by another intent. */
  close({ nonce, file }: Intent): void {
    append(file, { void: nonce })
  }

  /** Records that Terraform has service `id`, which `intent` created, in a state. */
  hold(id: string, intent?: Intent): void {
    if (this.#noted.has(id)) return
    this.#noted.add(id)
    append(intent?.file ?? this.#ownFile, { held: id })
  }

  /** Reads the journal, and removes obsolete files. */
  read(): Records {
    const open: Intent[] = []
    const held = new Set<string>()
    for (const entry of readdirSync(this.#folder, { withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.jsonl')) continue
      const file = join(this.#folder, entry.name)
      const stat = statSync(file, { throwIfNoEntry: false })
      if (stat === undefined) continue
      const records = stat.size > FILE_BYTES_MAX ? { open: [], held: new Set<string>() } : readFile(file)
      const ageMs = this.#nowMs() - stat.mtimeMs
      if (ageMs > (records.open.length === 0 ? SETTLED_MS : REMEMBERED_MS)) {
        rmSync(file, { force: true })
        continue
      }
      open.push(...records.open)
      for (const id of records.held) held.add(id)
    }
    return { open, held }
  }

  /** Records that Terraform ended normally, with all reported services in its state. */
  #settle(): void {
    try {
      for (const id of this.#made) this.hold(id)
    } catch {
      // The next plan reads the services and records the same.
    }
  }
}

/** Whether `intent` is to create `what`. Pure. */
export function isIntentFor(intent: Intent, what: string): boolean {
  return intent.digest === digestOf(intent.nonce, what)
}

function digestOf(nonce: string, what: string): string {
  return createHash('sha256').update(`${nonce}\n${what}`).digest('hex')
}

function append(file: string, line: Line): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
}

function readFile(file: string): Records {
  const intents = new Map<string, Intent>()
  const held = new Set<string>()
  for (const line of linesOf(file)) {
    if ('intent' in line) {
      const { intent: nonce, ...rest } = line
      intents.set(nonce, { ...rest, nonce, id: undefined, file })
    } else if ('made' in line) {
      const intent = intents.get(line.made)
      if (intent !== undefined) intents.set(line.made, { ...intent, id: line.id })
    } else if ('held' in line) held.add(line.held)
    else intents.delete(line.void)
  }
  return { open: [...intents.values()].filter(({ id }) => id === undefined || !held.has(id)), held }
}

function linesOf(file: string): readonly Line[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // Another process removed the file, or this user cannot read it.
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = lineSchema.safeParse(JSON.parse(line))
      return parsed.success ? [parsed.data] : []
    } catch {
      // A killed process may leave a partial line.
      return []
    }
  })
}
