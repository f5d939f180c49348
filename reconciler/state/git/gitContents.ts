import { randomUUID } from 'node:crypto'
import { emptyDocument, parseDocument, parsedJson } from '../model/stateDocument.ts'
import { StateError, stateGone } from '../model/stateError.ts'
import type { BindingChange, StateDocument } from '../model/store.ts'
import type { StateRef } from './gitRef.ts'

/** What one commit holds: the state, and who may write it. */
export interface Contents {
  readonly state: StateDocument
  readonly lease: { readonly holder: string | null; readonly epoch: number; readonly renewals: number }
  /** When it was made (milliseconds since the epoch); null where it is unknown. */
  readonly writtenAtMs: number | null
}

/** What a ref holds, read and written again and again: as long as it is the same state. */
export class KeptContents {
  readonly #ref: StateRef
  /** The state that was there; null while none was. */
  #stateId: string | null = null

  constructor(ref: StateRef) {
    this.#ref = ref
  }

  /** An empty state where there never was one. Throws StateError, `gone` where there is another one than before, or none. */
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
    isPassing = false,
  ): Promise<void> {
    const files = { state: `${JSON.stringify(state, null, 1)}\n`, lease: `${JSON.stringify(lease)}\n` }
    await this.#ref.write(files, message, isPassing)
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
  return { state: parseDocument(state, ref.name, WAY_BACK), lease: leaseIn(lease, ref.name), writtenAtMs }
}

/** What to do about a commit that another program made or damaged. */
const WAY_BACK = 'set the ref to the last commit that is right, or name another ref with --state'

function leaseIn(text: string, name: string): Contents['lease'] {
  const value = parsedJson(text)
  if (typeof value === 'object' && value !== null && 'epoch' in value && 'renewals' in value) {
    const { epoch, renewals } = value
    const holder = 'holder' in value && typeof value.holder === 'string' ? value.holder : null
    if (typeof epoch === 'number' && typeof renewals === 'number') return { holder, epoch, renewals }
  }
  throw new StateError(`the lease of ${name} cannot be read: ${WAY_BACK}`)
}

/** What `change` makes of the bindings and the open creations of `state`. Pure. */
export function changed(state: StateDocument, { put, drop }: BindingChange): Partial<StateDocument> {
  const gone = new Set([drop, put?.key])
  const kept = state.bindings.filter(({ key, serviceId }) => !gone.has(key) && serviceId !== put?.serviceId)
  if (put === undefined) return { bindings: kept, intents: state.intents }
  return {
    bindings: [...kept, put].sort((a, b) => (a.key < b.key ? -1 : 1)),
    intents: state.intents.filter(({ key, kind }) => key !== put.key || kind !== 'create'),
  }
}

/** `state` in the hands of one who took it over: its creations may have been sent at any time until now. Pure. */
export function takenOver(state: StateDocument, nowMs: number): StateDocument {
  return { ...state, intents: state.intents.map((intent) => ({ ...intent, sentAtMs: nowMs })) }
}
