/** What runs on this machine were about to create, so that a run that was killed leaves a trace of it. */
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

/** How long a creation that no run came back to is remembered (milliseconds): a week. */
const REMEMBERED_MS = 7 * 24 * 3_600_000
/** How long a file that says nothing more of interest stays (milliseconds). */
const SETTLED_MS = 3_600_000
/** Largest file that is read (bytes): some 10,000 creations, more than one run makes within the rate limit. */
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

/** A creation as it was written down before its request left. */
export interface Intent {
  /** Random, and part of the idempotency key. */
  readonly nonce: string
  /** When it was written (milliseconds since the epoch). */
  readonly atMs: number
  /** Salted hash of what was to be created; nothing can be read from it. */
  readonly digest: string
  /** As TerraformRun has it; so is `workspace`. */
  readonly owner: string
  readonly workspace: string
  /** The service that came of it; `undefined` when no answer was recorded. */
  readonly id: string | undefined
  readonly file: string
}

/** All that the journal says: creations that are still open, and ids of services that are in a state. */
export interface Records {
  readonly open: readonly Intent[]
  readonly held: ReadonlySet<string>
}

/**
 * Files in one folder, one for each process that wrote: a line is appended before a request leaves and after its
 * answer, and when Terraform is known to have the service in a state. The constructor and methods throw the error of
 * Node when the folder cannot be written.
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
    // A folder that is there may belong to another user or a read-only disk: its bits do not say so.
    writeFileSync(this.#ownFile, '', { mode: 0o600 })
    rmSync(this.#ownFile)
    run.onOrderlyEnd(() => this.#settle())
  }

  /** Writes down that `what` is about to be created; durable when this returns. */
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

  /** The creation was answered with service `id`. */
  made({ nonce, file }: Intent, id: string): void {
    this.#made.push(id)
    append(file, { made: nonce, id })
  }

  /** The creation came to nothing, or another intent stands for it now. */
  close({ nonce, file }: Intent): void {
    append(file, { void: nonce })
  }

  /** Terraform has service `id` in a state: no run has to look for it any more. `intent` is the one that made it. */
  hold(id: string, intent?: Intent): void {
    if (this.#noted.has(id)) return
    this.#noted.add(id)
    append(intent?.file ?? this.#ownFile, { held: id })
  }

  /** Everything that is written down, and removes files that say nothing of interest any more. */
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

  /** Terraform ended in order: it has every service that was reported to it. */
  #settle(): void {
    try {
      for (const id of this.#made) this.hold(id)
    } catch {
      // The next plan reads the services, and notes the same.
    }
  }
}

/** Whether `intent` is one to create `what`. Pure. */
export function isFor(intent: Intent, what: string): boolean {
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
    // Another process removed it, or another user's umask keeps it from us: it says nothing to us.
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const parsed = lineSchema.safeParse(JSON.parse(line))
      return parsed.success ? [parsed.data] : []
    } catch {
      // A process that was killed may leave half a line.
      return []
    }
  })
}
