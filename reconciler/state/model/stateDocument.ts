import { DOCUMENT_VERSION, type StateDocument, stateDocumentSchema } from './record.ts'
import { otherVersionText, StateError } from './stateError.ts'
import type { StateReading } from './store.ts'
import { parsedJson } from '../../text/parsedJson.ts'

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

/** Parses an export likewise. Throws StateError also for two records of a list that a state could not keep both. */
export function parseExport(json: string, source: string): StateDocument {
  const document = parseDocument(json, source)
  const problem = repetitionIn(document)
  if (problem !== undefined) throw new StateError(`${source} contradicts itself: ${problem}`)
  return document
}

/** The first two records of a list with the same key; `undefined` for none. Pure. */
function repetitionIn(document: StateDocument): string | undefined {
  const keys = {
    intents: document.intents.map(({ opId }) => opId),
    runs: document.runs.map(({ runId }) => runId),
    events: document.events.map(({ seq }) => seq),
    suspensions: document.suspensions.map(({ scope }) => scope),
    approvals: document.approvals.map(({ digest }) => digest),
    // A state has at most one.
    syncRequests: document.syncRequests.map(() => 'sync'),
    historyAcknowledgements: document.historyAcknowledgements.map(({ commitSha }) => commitSha),
  }
  for (const [list, all] of Object.entries<readonly (string | number)[]>(keys)) {
    const seen = new Set()
    const repeated = all.find((key) => seen.size === seen.add(key).size)
    if (repeated !== undefined) return `${list} has ${repeated} twice`
  }
  return undefined
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
