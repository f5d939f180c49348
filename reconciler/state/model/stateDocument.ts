import { DOCUMENT_VERSION, type StateDocument, stateDocumentSchema } from './record.ts'
import { otherVersionText, StateError } from './stateError.ts'
import type { StateReading } from './store.ts'

/** The document of an empty state. Pure. */
export function emptyDocument(stateId: string): StateDocument {
  return {
    version: DOCUMENT_VERSION,
    stateId,
    home: null,
    bindings: [],
    intents: [],
    runs: [],
    events: [],
    suspensions: [],
    approvals: [],
    syncRequests: [],
    historyAcknowledgements: [],
  }
}

/** The complete content of `store`. */
export async function documentOf(store: StateReading): Promise<StateDocument> {
  const all = Number.MAX_SAFE_INTEGER
  return {
    version: DOCUMENT_VERSION,
    stateId: store.stateId,
    home: await store.home(),
    bindings: await store.bindings(),
    intents: await store.openIntents(),
    runs: await store.runs(all),
    events: await store.events(all),
    suspensions: await store.suspensions(),
    approvals: await store.approvals(),
    syncRequests: await store.syncRequests(),
    historyAcknowledgements: await store.historyAcknowledgements(),
  }
}

/** Advice for a file that is not a state. */
const OTHER_FILE = 'name a file that "pharos state export" wrote'

/**
 * Parses and validates `json`. Throws StateError with the name `source` when it has another version or is not a state; `advice`
 * is for the latter.
 */
export function parseDocument(json: string, source: string, advice = OTHER_FILE): StateDocument {
  const value = parsedJson(json)
  const version =
    typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (typeof version === 'number' && version !== DOCUMENT_VERSION) {
    throw new StateError(otherVersionText(source, version, DOCUMENT_VERSION))
  }
  const parsed = stateDocumentSchema.safeParse(value)
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join('.') ?? ''
    throw new StateError(
      `${source} is not a state of pharos${where === '' ? '' : ` (see ${where})`}: ${advice}`,
    )
  }
  const problem = contradictionIn(parsed.data)
  if (problem !== undefined) throw new StateError(`${source} contradicts itself: ${problem}`)
  return parsed.data
}

/** The value of `json`; undefined when it is invalid. Pure. */
export function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** A contradiction in a document; `undefined` for none. Pure. */
export function contradictionIn({ bindings }: StateDocument): string | undefined {
  const keys = new Set<string>()
  const ids = new Set<string>()
  for (const { key, serviceId } of bindings) {
    if (keys.has(key)) return `${key} has two services`
    if (ids.has(serviceId)) return `service ${serviceId} belongs to two manifests`
    keys.add(key)
    ids.add(serviceId)
  }
  return undefined
}
