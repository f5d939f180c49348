import * as z from 'zod'
import type { CanonicalService } from '../../../api/contract/canonical.ts'
import { otherVersionText, StateError } from './stateError.ts'
import type { CreateIntent, StateDocument, StateReading } from './store.ts'

/** Version of the document. Any other is refused. */
const DOCUMENT_VERSION = 2

// Definitions written by pharos are not validated field by field.
const canonical = z.custom<CanonicalService>((value) => typeof value === 'object' && value !== null)
const creation = z.custom<CreateIntent>((value) => typeof value === 'object' && value !== null)
const text = z.string()
const none = text.nullable()

/** The schema of a document. */
export const stateDocumentSchema = z.strictObject({
  version: z.literal(DOCUMENT_VERSION),
  stateId: text,
  home: z.strictObject({ orgId: text, url: text, source: none }).nullable(),
  bindings: z.array(
    z.strictObject({
      key: text,
      serviceId: text,
      desired: canonical.nullable(),
      observed: canonical.nullable(),
      paused: z.boolean().nullable(),
      onDelete: z.enum(['delete', 'pause', 'detach']),
      protect: z.boolean(),
      pruneAfterSecs: z.number().nullable(),
      tombstonedAtMs: z.number().nullable(),
      heals: z.array(z.strictObject({ pointer: text, atMs: z.number() })),
    }),
  ),
  intents: z.array(
    z.strictObject({
      opId: text,
      runId: text,
      key: text,
      kind: z.enum(['create', 'replace', 'pause', 'resume', 'delete']),
      serviceId: none,
      sentAtMs: z.number(),
      create: creation.nullable(),
      mayStillLand: z.boolean(),
    }),
  ),
  runs: z.array(
    z.strictObject({
      runId: text,
      command: text,
      trigger: text,
      commitSha: none,
      planDigest: none,
      outcome: z.enum(['done', 'partial', 'held-back', 'undecided', 'failed', 'interrupted']),
      startedAt: text,
      finishedAt: text,
      exitCode: z.number(),
      isHistoryRewritten: z.boolean(),
      counts: z.record(text, z.number()),
    }),
  ),
  events: z.array(
    z.strictObject({
      seq: z.number(),
      at: text,
      runId: none,
      key: none,
      type: text,
      severity: z.enum(['info', 'warning', 'error']),
      message: text,
    }),
  ),
  suspensions: z.array(z.strictObject({ scope: text, reason: text, actor: text, since: text, until: none })),
  approvals: z.array(z.strictObject({ digest: text, actor: text, at: text })),
  syncRequests: z.array(z.strictObject({ actor: text, at: text })),
  historyAcknowledgements: z.array(z.strictObject({ commitSha: text, actor: text, at: text })),
})

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
