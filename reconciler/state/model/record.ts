import * as z from 'zod'
import type { CanonicalService } from '../../../api/contract/canonical.ts'
import type { Binding } from '../../plan/binding.ts'

/** Maximum of runs, events, unused approvals and unused acknowledgements in a state; the oldest are dropped first. */
export const RUNS_KEPT = 200
export const EVENTS_KEPT = 1_000
export const APPROVALS_KEPT = 50
/** Longest duration of a suspension (milliseconds): ten years, so that its end is a valid date. */
export const SUSPENSION_MS_MAX = 10 * 366 * 86_400_000
/** Version of the document. Any other is refused. */
export const DOCUMENT_VERSION = 2

const text = z.string()
const none = text.nullable()
// Definitions written by pharos are not validated field by field.
const canonical = z.custom<CanonicalService>((value) => typeof value === 'object' && value !== null)
const creation = z.custom<CreateIntent>((value) => typeof value === 'object' && value !== null)

/** Facts that determine the result of a creation. */
export interface CreateIntent {
  readonly sent: CanonicalService
  /** Other definitions that were sent earlier with the same operation id, the first one first; absent for none. */
  readonly earlier?: readonly CanonicalService[]
  readonly preIds: readonly string[]
  readonly policy: Pick<Binding, 'onDelete' | 'protect' | 'pruneAfterSecs'>
}

/** The organisation and server of a state, and its source of manifests. */
const home = z.strictObject({
  orgId: text,
  url: text,
  /** Name of the last applied source. `settleIn` with null keeps the known one. */
  source: none,
})

/** See `Binding` of the plan. */
const binding = z.strictObject({
  key: text,
  serviceId: text,
  desired: canonical.nullable(),
  observed: canonical.nullable(),
  paused: z.boolean().nullable(),
  onDelete: z.enum(['delete', 'pause', 'detach']),
  protect: z.boolean(),
  pruneAfterSecs: z.number().nullable(),
  tombstonedAtMs: z.number().nullable(),
  heals: z.array(z.strictObject({ pointer: text, atMs: z.number() })).readonly(),
})

/** The record of a request that changes something, written before it is sent. */
const intent = z.strictObject({
  opId: text,
  runId: text,
  key: text,
  kind: z.enum(['create', 'replace', 'pause', 'resume', 'delete']),
  serviceId: none,
  sentAtMs: z.number(),
  /** For a creation: the definition, with fingerprints for secrets. */
  create: creation.nullable(),
  /** False once the server has reported a failure. */
  mayStillLand: z.boolean(),
})

/** The record of one finished run. */
const run = z.strictObject({
  runId: text,
  command: text,
  /** What started it: `command`, or of a controller `interval`, `push`, `webhook`, `api`, `retry`. */
  trigger: text,
  /** Commit of the manifests, with `-dirty` when the folder differed from it; null for none. */
  commitSha: none,
  /** Approval digest of the blocked changes; null for none. */
  planDigest: none,
  /** `held-back`: a safety limit blocked changes; `undecided`: manual decision required. */
  outcome: z.enum(['done', 'partial', 'held-back', 'undecided', 'failed', 'interrupted']),
  startedAt: text,
  finishedAt: text,
  exitCode: z.number(),
  /** Whether the branch no longer contained the commit applied before: then `commitSha` is no baseline for later runs. */
  isHistoryRewritten: z.boolean(),
  counts: z.record(text, z.number()),
})

/** An event in the history of a state. */
const event = z.strictObject({
  /** Ascending number within the state. */
  seq: z.number(),
  /** ISO 8601, UTC. */
  at: text,
  runId: none,
  key: none,
  /** Type, such as `HealLoop`. */
  type: text,
  severity: z.enum(['info', 'warning', 'error']),
  message: text,
})

/** Blocks changes of services until it ends. */
const suspension = z.strictObject({
  /** `metadata.name` of a manifest, where `*` stands for any characters; `*` alone is the whole set. */
  scope: text,
  reason: text,
  actor: text,
  /** ISO 8601, UTC. */
  since: text,
  /** ISO 8601, UTC; null without an end. */
  until: none,
})

/** The complete content of a state, for exports and states in git. Times are in ISO 8601, UTC. */
export const stateDocumentSchema = z.strictObject({
  version: z.literal(DOCUMENT_VERSION),
  stateId: text,
  home: home.nullable(),
  bindings: z.array(binding),
  intents: z.array(intent),
  /** Newest first, like events. */
  runs: z.array(run),
  events: z.array(event),
  suspensions: z.array(suspension),
  /** Approvals of changes that a safety limit blocks. */
  approvals: z.array(z.strictObject({ digest: text, actor: text, at: text })),
  /** Requests for a sync by the leading replica, at most one. */
  syncRequests: z.array(z.strictObject({ actor: text, at: text })),
  /** Acknowledgements of rewritten histories that end with `commitSha`. */
  historyAcknowledgements: z.array(z.strictObject({ commitSha: text, actor: text, at: text })),
})

type Document = z.output<typeof stateDocumentSchema>
/** The content of `stateDocumentSchema`. */
export type StateDocument = { readonly [Part in keyof Document]: Readonly<Document[Part]> }
/** The organisation and server of a state, and its source of manifests. */
export type StateHome = Readonly<z.output<typeof home>>
/** An intent without a recorded result. */
export type OpenIntent = Readonly<z.output<typeof intent>>
/** A request as it is recorded before it is sent. */
export type Intent = Omit<OpenIntent, 'mayStillLand'>
/** A run with its outcome. */
export type RunRecord = Readonly<z.output<typeof run>>
/** An event, such as a raised condition. */
export type StateEvent = Readonly<z.output<typeof event>>
/** Blocks changes of services until it ends. */
export type Suspension = Readonly<z.output<typeof suspension>>
/** Approves the changes with its digest, once. */
export type Approval = StateDocument['approvals'][number]
/** Asks the leading replica for a cycle. */
export type SyncRequest = StateDocument['syncRequests'][number]
/** Acknowledges a rewritten history that ends with `commitSha`. */
export type HistoryAcknowledgement = StateDocument['historyAcknowledgements'][number]

/** Whether `suspension` blocks changes at `nowMs` (milliseconds since the epoch). Pure. */
export function isInForce({ until }: Suspension, nowMs: number): boolean {
  return until === null || Date.parse(until) > nowMs
}
