import * as z from 'zod'
import type { CanonicalService } from '../../../api/contract/canonical.ts'
import type { Binding } from '../../plan/binding.ts'
import type {
  Approval,
  HistoryAcknowledgement,
  RunRecord,
  StateEvent,
  Suspension,
  SyncRequest,
} from '../model/record.ts'
import { outcomeOfExit } from '../model/runOutcome.ts'
import type { Intent, OpenIntent } from '../model/store.ts'

/** A canonical service that we wrote ourselves: read back without checking every field again. */
const canonicalJson = z.string().transform((text): CanonicalService => JSON.parse(text))
const flag = z.union([z.literal(0), z.literal(1)]).transform((value) => value === 1)

const bindingRow = z
  .object({
    key: z.string(),
    service_id: z.string(),
    desired: canonicalJson.nullable(),
    observed: canonicalJson.nullable(),
    paused: flag.nullable(),
    on_delete: z.enum(['delete', 'pause', 'detach']),
    protect: flag,
    prune_after_secs: z.number().nullable(),
    tombstoned_at_ms: z.number().nullable(),
    heals: z.string().transform((text): Binding['heals'] => JSON.parse(text)),
  })
  .transform(
    ({ service_id, on_delete, prune_after_secs, tombstoned_at_ms, ...rest }): Binding => ({
      ...rest,
      serviceId: service_id,
      onDelete: on_delete,
      pruneAfterSecs: prune_after_secs,
      tombstonedAtMs: tombstoned_at_ms,
    }),
  )

const creationJson = z.string().transform((text): NonNullable<Intent['create']> => JSON.parse(text))

const intentRow = z
  .object({
    op_id: z.string(),
    run_id: z.string(),
    key: z.string(),
    kind: z.enum(['create', 'replace', 'pause', 'resume', 'delete']),
    service_id: z.string().nullable(),
    sent_at_ms: z.number(),
    creation: creationJson.nullable(),
    may_still_land: flag,
  })
  .transform(
    (row): OpenIntent => ({
      opId: row.op_id,
      runId: row.run_id,
      key: row.key,
      kind: row.kind,
      serviceId: row.service_id,
      sentAtMs: row.sent_at_ms,
      create: row.creation,
      mayStillLand: row.may_still_land,
    }),
  )

const metaRow = z.object({
  state_id: z.string(),
  org_id: z.string().nullable(),
  url: z.string().nullable(),
  source: z.string().nullable(),
})

/** Bindings as rows of the table `binding`. Throws a ZodError where a row is not ours. */
export function bindingsOf(rows: readonly unknown[]): readonly Binding[] {
  return z.array(bindingRow).parse(rows)
}

/** Intents as rows of the table `intent`. Throws a ZodError where a row is not ours. */
export function intentsOf(rows: readonly unknown[]): readonly OpenIntent[] {
  return z.array(intentRow).parse(rows)
}

/** The one row of the table `meta`. Throws a ZodError where it is not ours. */
export function metaOf(row: unknown): z.output<typeof metaRow> {
  return metaRow.parse(row)
}

/** Parameters of an insert into `binding`, by column. Pure. */
export function bindingParameters(binding: Binding): globalThis.Record<string, string | number | null> {
  return {
    key: binding.key,
    service_id: binding.serviceId,
    desired: binding.desired === null ? null : JSON.stringify(binding.desired),
    observed: binding.observed === null ? null : JSON.stringify(binding.observed),
    paused: binding.paused === null ? null : Number(binding.paused),
    on_delete: binding.onDelete,
    protect: Number(binding.protect),
    prune_after_secs: binding.pruneAfterSecs,
    tombstoned_at_ms: binding.tombstonedAtMs,
    heals: JSON.stringify(binding.heals),
  }
}

/** Parameters of an insert into `intent`, by column. Pure. */
export function intentParameters(
  intent: Intent,
  epoch: number,
): globalThis.Record<string, string | number | null> {
  return {
    op_id: intent.opId,
    run_id: intent.runId,
    key: intent.key,
    kind: intent.kind,
    service_id: intent.serviceId,
    sent_at_ms: intent.sentAtMs,
    creation: intent.create === null ? null : JSON.stringify(intent.create),
    may_still_land: 1,
    epoch,
  }
}

const runRow = z
  .object({
    run_id: z.string(),
    command: z.string(),
    cause: z.string(),
    commit_sha: z.string().nullable(),
    plan_digest: z.string().nullable(),
    outcome: z.enum(['done', 'partial', 'held-back', 'undecided', 'failed', 'interrupted']).nullable(),
    started_at: z.string(),
    finished_at: z.string(),
    exit_code: z.number(),
    counts: z.string().transform((text): RunRecord['counts'] => JSON.parse(text)),
    history_rewritten: flag,
  })
  .transform(
    (row): RunRecord => ({
      runId: row.run_id,
      command: row.command,
      trigger: row.cause,
      commitSha: row.commit_sha,
      planDigest: row.plan_digest,
      outcome: row.outcome ?? outcomeOfExit(row.exit_code),
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      exitCode: row.exit_code,
      counts: row.counts,
      isHistoryRewritten: row.history_rewritten,
    }),
  )

/** Runs as rows of the table `run`. Throws a ZodError where a row is not ours. */
export function runsOf(rows: readonly unknown[]): readonly RunRecord[] {
  return z.array(runRow).parse(rows)
}

/** Parameters of an insert into `run`, by column. Pure. */
export function runParameters(
  run: RunRecord,
  epoch: number,
): globalThis.Record<string, string | number | null> {
  return {
    run_id: run.runId,
    command: run.command,
    cause: run.trigger,
    commit_sha: run.commitSha,
    plan_digest: run.planDigest,
    outcome: run.outcome,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    exit_code: run.exitCode,
    counts: JSON.stringify(run.counts),
    history_rewritten: Number(run.isHistoryRewritten),
    epoch,
  }
}

const eventRow = z
  .object({
    seq: z.number(),
    at: z.string(),
    run_id: z.string().nullable(),
    key: z.string().nullable(),
    type: z.string(),
    severity: z.enum(['info', 'warning', 'error']),
    message: z.string(),
  })
  .transform(({ run_id, ...rest }): StateEvent => ({ ...rest, runId: run_id }))

/** Events as rows of the table `event`. Throws a ZodError where a row is not ours. */
export function eventsOf(rows: readonly unknown[]): readonly StateEvent[] {
  return z.array(eventRow).parse(rows)
}

const suspensionRow = z.object({
  scope: z.string(),
  reason: z.string(),
  actor: z.string(),
  since: z.string(),
  until: z.string().nullable(),
})
const approvalRow = z.object({ digest: z.string(), actor: z.string(), at: z.string() })
const syncRequestRow = z.object({ actor: z.string(), at: z.string() })
const acknowledgementRow = z
  .object({ commit_sha: z.string(), actor: z.string(), at: z.string() })
  .transform(({ commit_sha: commitSha, ...rest }): HistoryAcknowledgement => ({ commitSha, ...rest }))

/** Suspensions as rows of the table `suspension`. Throws a ZodError where a row is not ours. */
export function suspensionsOf(rows: readonly unknown[]): readonly Suspension[] {
  return z.array(suspensionRow).parse(rows)
}

/** Approvals as rows of the table `approval`. Throws a ZodError where a row is not ours. */
export function approvalsOf(rows: readonly unknown[]): readonly Approval[] {
  return z.array(approvalRow).parse(rows)
}

/** Requests as rows of the table `sync_request`. Throws a ZodError where a row is not ours. */
export function syncRequestsOf(rows: readonly unknown[]): readonly SyncRequest[] {
  return z.array(syncRequestRow).parse(rows)
}

/** Acknowledgements as rows of the table `history_acknowledgement`. Throws a ZodError where a row is not ours. */
export function acknowledgementsOf(rows: readonly unknown[]): readonly HistoryAcknowledgement[] {
  return z.array(acknowledgementRow).parse(rows)
}

const leaseRow = z.object({
  holder: z.string().nullable(),
  epoch: z.number(),
  renewals: z.number(),
  locks_file: flag,
})

/** The one row of the table `lease`. Throws a ZodError where it is not ours. */
export function leaseOf(row: unknown): z.output<typeof leaseRow> {
  return leaseRow.parse(row)
}
