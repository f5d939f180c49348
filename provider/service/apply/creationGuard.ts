/** Decides whether a create sends a request, or adopts a service that a killed run created but did not record. */
import { createHash, randomUUID } from 'node:crypto'
import { canonicalRequest } from '../../../api/contract/canonical.ts'
import type { ServiceRequest, ServiceResponse } from '../../../api/contract/service.ts'
import { type DiagnosticError, failure } from '../../protocol/authoring/diagnostics.ts'
import { CreationJournal, type Intent, isIntentFor, type Records } from './creationJournal.ts'
import { CLOCK_SKEW_MS } from './resendIfAbsent.ts'
import type { TerraformRun } from './terraformRun.ts'

/**
 * Maximum age of an unknown service that blocks a create (milliseconds). It covers a killed pipeline that restarts on
 * another machine, but does not block a later create.
 */
export const UNKNOWN_SERVICE_MS_MAX = 15 * 60_000

const NOTHING: Records = { open: [], held: new Set() }

export interface GuardOptions {
  /** Folders for the journal; the first writable one is used. */
  readonly folders: readonly string[]
  readonly run: TerraformRun
  /** Address and key, which distinguish equal definitions in different organisations. */
  readonly scope: string
  /** Called once when the journal cannot be written. */
  readonly warn: (message: string) => void
  readonly nowMs?: () => number
}

/** The decision about a create. `resumes` is the intent of a killed run, whose idempotency key is reused. */
export type Decision =
  | { readonly kind: 'create'; readonly resumes: Intent | undefined }
  | { readonly kind: 'adopt'; readonly service: ServiceResponse; readonly intent: Intent }

/**
 * There are three kinds of services that equal the one to create but were not created by this process. One that belongs
 * to a state, according to the journal, does not block the create. One that a killed run of this workspace created but
 * did not record is adopted. One that is unknown and recent blocks the create, which might make a duplicate.
 *
 * Without a journal the first two kinds look like the third.
 */
export class CreationGuard {
  readonly #options: Required<GuardOptions>
  #journal: CreationJournal | undefined
  /** The journal at the first plan. */
  #plannedWith: Records | undefined
  /** The journal, read after the list: an earlier copy might miss a service in the list. */
  #decidedWith: Records | undefined
  /** Nonces of the intents that creates of this process have handled, including their own. */
  readonly #claimed = new Set<string>()

  constructor(options: GuardOptions) {
    this.#options = { nowMs: Date.now, ...options }
    this.#journal = firstWritable(this.#options)
    if (this.#journal === undefined) this.#warnOnce()
  }

  /** Terraform has this service in its state. `createdAt` is an instant, RFC 3339, or null right after an import. */
  recordOwned(id: string, createdAt: string | null): void {
    const createdMs = Date.parse(createdAt ?? '')
    this.#plannedWith ??= this.#read()
    const { open } = this.#plannedWith
    const intent = open.find((candidate) => candidate.id === id)
    const isOfInterest =
      intent !== undefined ||
      createdMs >= this.#options.nowMs() - UNKNOWN_SERVICE_MS_MAX ||
      open.some(({ id: made, atMs }) => made === undefined && createdMs >= atMs - CLOCK_SKEW_MS)
    if (isOfInterest) this.#write((journal) => journal.hold(id, intent))
  }

  /**
   * Decides about the create of `request`, given the services of the same definition that existed before this process created
   * any. Call it after the list was read. Throws a DiagnosticError that names the services.
   */
  decide(request: ServiceRequest, alike: readonly ServiceResponse[]): Decision {
    const what = this.#textOf(request)
    this.#decidedWith ??= this.#read()
    const records = this.#decidedWith
    for (const service of alike) {
      // Found by its id, because another address or key of the same organisation hides the definition.
      const intent = records.open.find(({ id }) => id === service.id)
      if (intent === undefined || !this.#isLost(intent)) continue
      this.#claimed.add(intent.nonce)
      return { kind: 'adopt', service, intent }
    }
    const lost = records.open.filter(
      (intent) => intent.id === undefined && isIntentFor(intent, what) && this.#isLost(intent),
    )
    const free = alike.filter((service) => !this.#isClaimed(service, what, records))
    const [intent, ...others] = lost
    if (intent === undefined) {
      const unknown = free.filter(
        ({ created_at }) => Date.parse(created_at) >= this.#options.nowMs() - UNKNOWN_SERVICE_MS_MAX,
      )
      if (unknown.length > 0) throw unknownServicesFound(request.name, unknown)
      return { kind: 'create', resumes: undefined }
    }
    const since = free.filter(({ created_at }) => isSince(created_at, intent))
    if (since.length > 1 + others.length) throw ambiguousCreation(request.name, since)
    this.#claimed.add(intent.nonce)
    const [service] = since
    return service === undefined ? { kind: 'create', resumes: intent } : { kind: 'adopt', service, intent }
  }

  /** Whether `service`, which is like `request`, currently belongs to a state or to another run on this machine. */
  isAnothers(service: ServiceResponse, request: ServiceRequest): boolean {
    return this.#isClaimed(service, this.#textOf(request), this.#read())
  }

  /** Call it before the request is sent. `resumes` is the intent of a killed run that this run continues. */
  begin(request: ServiceRequest, resumes?: Intent): Intent | undefined {
    return this.#write((journal) => {
      const intent = journal.begin(this.#textOf(request), resumes?.nonce)
      this.#claimed.add(intent.nonce)
      if (resumes !== undefined) journal.close(resumes)
      return intent
    })
  }

  /** Call it when the service exists. */
  made(intent: Intent | undefined, id: string): void {
    if (intent !== undefined) this.#write((journal) => journal.made(intent, id))
  }

  /** Call it when the creation certainly had no effect. */
  refused(intent: Intent | undefined): void {
    if (intent !== undefined) this.#write((journal) => journal.close(intent))
  }

  /** Call it when this run has adopted `service`, which the run of `intent` created. */
  adopted(request: ServiceRequest, { service, intent }: Extract<Decision, { kind: 'adopt' }>): void {
    this.#write((journal) => {
      journal.made(journal.begin(this.#textOf(request)), service.id)
      journal.close(intent)
    })
  }

  /** Whether `intent` is an unhandled intent of this workspace, and its Terraform process has ended. */
  #isLost(intent: Intent): boolean {
    return (
      intent.workspace === this.#options.run.workspace &&
      !this.#claimed.has(intent.nonce) &&
      !this.#options.run.isRunning(intent.owner)
    )
  }

  /** Whether a state has `service`, or a live run created it and will record it. */
  #isClaimed({ id, created_at }: ServiceResponse, what: string, { open, held }: Records): boolean {
    if (held.has(id)) return true
    return open.some((intent) => {
      if (this.#claimed.has(intent.nonce)) return false
      const mayBe =
        intent.id === undefined ? isSince(created_at, intent) && isIntentFor(intent, what) : intent.id === id
      return mayBe && this.#options.run.isRunning(intent.owner)
    })
  }

  #textOf(request: ServiceRequest): string {
    // Secrets are left out, because their hash would allow guessing.
    return JSON.stringify([this.#options.scope, canonicalRequest(request, () => '')])
  }

  #read(): Records {
    return this.#write((journal) => journal.read()) ?? NOTHING
  }

  /** The result of `use`; `undefined` from the first failure on, as without a journal. */
  #write<T>(use: (journal: CreationJournal) => T): T | undefined {
    if (this.#journal === undefined) return undefined
    try {
      return use(this.#journal)
    } catch {
      this.#journal = undefined
      this.#warnOnce()
      return undefined
    }
  }

  #warnOnce(): void {
    this.#options.warn(
      'creations cannot be recorded: neither the state folder of this user nor TF_DATA_DIR is writable',
    )
  }
}

/** The idempotency key of a creation, derived from the intent and the request. Pure. */
export function idempotencyKeyOf(intent: Intent | undefined, request: ServiceRequest): string {
  if (intent === undefined) return randomUUID()
  return createHash('sha256')
    .update(`${intent.nonce}\n${JSON.stringify(request)}`)
    .digest('hex')
}

function firstWritable({ folders, run, nowMs }: Required<GuardOptions>): CreationJournal | undefined {
  for (const folder of folders) {
    try {
      return new CreationJournal(folder, run, nowMs)
    } catch {
      // The home folder is missing or read-only, as in many containers. Try the next folder.
    }
  }
  return undefined
}

/** Whether a service may be the result of `intent`, allowing for clock differences. */
function isSince(createdAt: string, { atMs }: Intent): boolean {
  return Date.parse(createdAt) >= atMs - CLOCK_SKEW_MS
}

function unknownServicesFound(name: string, found: readonly ServiceResponse[]): DiagnosticError {
  const [first] = found
  const endsAt = new Date(Date.parse(first?.created_at ?? '') + UNKNOWN_SERVICE_MS_MAX)
  const detail =
    `A service with this name and definition was created recently, possibly by a killed run: ${idsOf(found)}. ` +
    'If so, import it with this id. If another state has it, or this run deletes it, set create_guard = false in the ' +
    `provider block, or apply again after ${endsAt.toISOString()}.`
  return failure(`Service "${name}" exists already`, detail)
}

/** The error when the response to the creation of `name` was lost and each of `found` may be its result. */
export function ambiguousCreation(name: string, found: readonly ServiceResponse[]): DiagnosticError {
  const detail =
    `The API did not respond to the creation of "${name}", and ${found.length} new services have this definition: ${idsOf(found)}. ` +
    'Import one of them, delete the others, and apply again.'
  return failure('Cannot tell which service was created', detail)
}

function idsOf(services: readonly ServiceResponse[]): string {
  return services.map(({ id }) => id).join(', ')
}
