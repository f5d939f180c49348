import { z } from 'zod'
import type { CanonicalService } from '../../api/contract/canonical.ts'
import type { Binding } from '../plan/binding.ts'
import type { Intent, OpenIntent, RunRecord } from './store.ts'

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
    tombstone: flag,
  })
  .transform(
    ({ service_id, on_delete, ...rest }): Binding => ({
      ...rest,
      serviceId: service_id,
      onDelete: on_delete,
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
  // Version 1 has none, and is not migrated by who only reads it.
  source: z.string().nullish(),
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
    tombstone: Number(binding.tombstone),
  }
}

/** Parameters of an insert into `intent`, by column. Pure. */
export function intentParameters(intent: Intent): globalThis.Record<string, string | number | null> {
  return {
    op_id: intent.opId,
    run_id: intent.runId,
    key: intent.key,
    kind: intent.kind,
    service_id: intent.serviceId,
    sent_at_ms: intent.sentAtMs,
    creation: intent.create === null ? null : JSON.stringify(intent.create),
    may_still_land: 1,
  }
}

const runRow = z
  .object({
    run_id: z.string(),
    command: z.string(),
    started_at: z.string(),
    finished_at: z.string(),
    exit_code: z.number(),
    counts: z.string().transform((text): RunRecord['counts'] => JSON.parse(text)),
  })
  .transform(
    (row): RunRecord => ({
      runId: row.run_id,
      command: row.command,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      exitCode: row.exit_code,
      counts: row.counts,
    }),
  )

/** Runs as rows of the table `run`. Throws a ZodError where a row is not ours. */
export function runsOf(rows: readonly unknown[]): readonly RunRecord[] {
  return z.array(runRow).parse(rows)
}
