import { randomUUID } from 'node:crypto'
import { parsedJson } from '../../text/parsedJson.ts'
import { emptyDocument, parseDocument } from '../model/stateDocument.ts'
import { StateError, stateGone } from '../model/stateError.ts'
import type { StateDocument } from '../model/record.ts'
import type { BindingChange } from '../model/store.ts'
import type { StateRef } from './gitRef.ts'

/** The content of one commit: the state, and its lease. */
export interface Contents {
  readonly state: StateDocument
  readonly lease: { readonly holder: string | null; readonly epoch: number; readonly renewals: number }
  /** Time of the commit (milliseconds since the epoch); null when unknown. */
  readonly writtenAtMs: number | null
}

/** Reads and writes the content of a ref, as long as it belongs to the same state. */
export class RefContents {
  readonly #ref: StateRef
  /** Id of the state; null before the first one. */
  #stateId: string | null = null

  constructor(ref: StateRef) {
    this.#ref = ref
  }

  /** An empty state for a new ref. Throws StateError, `gone` when the state was removed or replaced. */
  async read(): Promise<Contents> {
    const contents = await readContents(this.#ref)
    const { stateId } = contents?.state ?? {}
    if (this.#stateId !== null && stateId !== this.#stateId) throw stateGone(this.#ref.name)
    this.#stateId = stateId ?? null
    if (contents !== null) return contents
    const lease = { holder: null, epoch: 0, renewals: 0 }
    return { state: emptyDocument(randomUUID()), lease, writtenAtMs: null }
  }

  /** See `StateRef.write`. */
  async write(
    { state, lease }: Pick<Contents, 'state' | 'lease'>,
    message: string,
    isTemporary = false,
  ): Promise<void> {
    const files = { state: `${JSON.stringify(state, null, 1)}\n`, lease: `${JSON.stringify(lease)}\n` }
    await this.#ref.write(files, message, isTemporary)
    this.#stateId = state.stateId
  }

  close(): void {
    this.#ref.close()
  }
}

async function readContents(ref: StateRef): Promise<Contents | null> {
  const files = await ref.read()
  if (files === null) return null
  const { state, lease, writtenAtMs = null } = files
  return { state: parseDocument(state, ref.name, ADVICE), lease: leaseIn(lease, ref.name), writtenAtMs }
}

/** Advice for a commit that another program created or damaged. */
const ADVICE = 'set the ref to the last valid commit, or name another ref with --state'

function leaseIn(text: string, name: string): Contents['lease'] {
  const value = parsedJson(text)
  if (typeof value === 'object' && value !== null && 'epoch' in value && 'renewals' in value) {
    const { epoch, renewals } = value
    const holder = 'holder' in value && typeof value.holder === 'string' ? value.holder : null
    if (typeof epoch === 'number' && typeof renewals === 'number') return { holder, epoch, renewals }
  }
  throw new StateError(`the lease of ${name} cannot be read: ${ADVICE}`)
}

/** The bindings and intents of `state` after `change`. Pure. */
export function changed(state: StateDocument, { put, drop }: BindingChange): Partial<StateDocument> {
  const replaced = new Set([drop, put?.key])
  const kept = state.bindings.filter(
    ({ key, serviceId }) => !replaced.has(key) && serviceId !== put?.serviceId,
  )
  if (put === undefined) return { bindings: kept, intents: state.intents }
  return {
    bindings: [...kept, put].sort((a, b) => (a.key < b.key ? -1 : 1)),
    intents: state.intents.filter(({ key, kind }) => key !== put.key || kind !== 'create'),
  }
}

/** `state` after a takeover of its lease: its creations may have been sent at any time until now. Pure. */
export function afterTakeover(state: StateDocument, nowMs: number): StateDocument {
  return { ...state, intents: state.intents.map((intent) => ({ ...intent, sentAtMs: nowMs })) }
}
