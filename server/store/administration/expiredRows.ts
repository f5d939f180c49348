import { SESSION_IDLE_MS, SESSION_MS_MAX } from '../../domain/accounts/sessions.ts'
import { timestamp } from '../../domain/environment.ts'
import type { CommandOrder } from '../commands/commandOrder.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { row, rows, run, type Script, type Scripts, type ScriptValue } from '../scripts/script.ts'
import { AUDIT_ENTRIES_MAX, AUDIT_KEPT_MS } from '../shared/auditedAction.ts'
import { IDEMPOTENCY_MS } from '../shared/storedCreation.ts'
import { BUS_READER } from '../store.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
/** How long published commands are kept, for inspection (milliseconds). */
const COMMANDS_KEPT_MS = 7 * DAY_MS
/** How long ended deliveries are kept (milliseconds). Gap G9. */
const SENT_KEPT_MS = 7 * DAY_MS
const FAILED_KEPT_MS = 30 * DAY_MS
/** Retention of certificate notices after the certificate expires (seconds). */
const NOTICES_KEPT_S = (90 * DAY_MS) / 1_000
/** How long the number of an endpoint is kept after its history (days): agents deliver results up to a day late. */
const NUMBERS_KEPT_DAYS = 7
/** Endpoints checked in one transaction: PostgreSQL reads some 40 definitions of 1 MiB in a second. */
const SLICE_ENDPOINTS = 25
/** Maximum number of rows deleted in one transaction: SQLite handles no request meanwhile. */
const DELETED_AT_ONCE = 1_000

/** Deletes expired rows, in small parts. Several programs may do so at once. */
export async function removeExpired(scripts: Scripts, order: CommandOrder, nowMs: number): Promise<void> {
  const { read, write } = scripts
  for (const expired of [...expiredAt(nowMs), ...(await read(surplusEntries))]) await remove(write, expired)
  // Only the oldest are read: reading all would take time proportional to the number of commands.
  const commands = `DELETE FROM commands WHERE created_at_ms < $1 AND sequence IN
    (SELECT c.sequence FROM commands c JOIN outbox_readers r ON r.name = '${BUS_READER}'
     WHERE (${order.place('c')}) <= (${order.place('r')}) ORDER BY ${order.place('c')} LIMIT ${DELETED_AT_ONCE})
    RETURNING 1 AS deleted`
  await untilNone(write, commands, [nowMs - COMMANDS_KEPT_MS])
  // Last, because it reads definitions, and may fail for one of them.
  await markEndedEndpoints(scripts, nowMs)
  await remove(write, endedEndpoints(nowMs))
}

async function remove(write: Scripts['write'], expired: Expired): Promise<void> {
  const { table, from = `${table} t`, key, condition, values } = expired
  const text = `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${from} WHERE ${condition}
    LIMIT ${DELETED_AT_ONCE} FOR UPDATE OF t SKIP LOCKED) RETURNING 1 AS deleted`
  await untilNone(write, text, values)
}

/** Repeats a statement until it returns no row. */
async function untilNone(
  write: Scripts['write'],
  text: string,
  values: readonly ScriptValue[],
): Promise<void> {
  while ((await write(() => rows(text, values))).length > 0) {}
}

interface Expired {
  readonly table: string
  /** Tables of the selection, in which `t` is the table; only this one when absent. */
  readonly from?: string
  readonly key: string
  /** Whether a row has expired, by `values`. */
  readonly condition: string
  readonly values: readonly ScriptValue[]
}

function expiredAt(nowMs: number): readonly Expired[] {
  const sessions = { table: 'sessions', key: 'id_hash' }
  const deliveries = { table: 'deliveries', key: 'event_seq, channel_id' }
  return [
    {
      ...{ table: 'remembered_creations', key: 'org_id, key_hash' },
      ...{ condition: 'created_at_ms < $1', values: [nowMs - IDEMPOTENCY_MS] },
    },
    { ...deliveries, condition: "state = 'sent' AND ended_ms < $1", values: [nowMs - SENT_KEPT_MS] },
    { ...deliveries, condition: "state = 'failed' AND ended_ms < $1", values: [nowMs - FAILED_KEPT_MS] },
    {
      ...{ table: 'events', key: 'seq', values: [nowMs - SENT_KEPT_MS] },
      condition: 'at_ms < $1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_seq = t.seq)',
    },
    { ...sessions, condition: 'seen_at_ms <= $1', values: [nowMs - SESSION_IDLE_MS] },
    { ...sessions, condition: 'created_at_ms <= $1', values: [nowMs - SESSION_MS_MAX] },
    { table: 'invitations', key: 'token_hash', condition: 'expires_at_ms <= $1', values: [nowMs] },
    { table: 'password_resets', key: 'token_hash', condition: 'expires_at_ms <= $1', values: [nowMs] },
    {
      ...{ table: 'certificate_notices', key: 'org_id, host, port, fingerprint, threshold_s' },
      ...{ condition: 'not_after_s < $1', values: [Math.floor(nowMs / 1_000) - NOTICES_KEPT_S] },
    },
    { table: 'audit', key: 'seq', condition: 'at < $1', values: [timestamp(nowMs - AUDIT_KEPT_MS)] },
    {
      // Generations without stored results.
      ...{ table: 'past_generations', key: 'sequence', values: [nowMs] },
      from: 'orgs o JOIN plans p ON p.name = o.plan JOIN past_generations t ON t.org_id = o.id',
      condition: `t.until_ms < $1 - coalesce(o.results_days, p.results_days) * ${DAY_MS}::bigint`,
    },
  ]
}

/** A week after the removal for a deleted service; otherwise a week after the hourly counts expire. */
function endedEndpoints(nowMs: number): Expired {
  return {
    ...{ table: 'numbered_endpoints', key: 'number', values: [nowMs] },
    from: `numbered_endpoints t LEFT JOIN services s ON s.id = t.service_id LEFT JOIN orgs o ON o.id = s.org_id
      LEFT JOIN plans p ON p.name = o.plan`,
    condition: `t.ended_at_ms < $1 - ${DAY_MS}::bigint *
      (${NUMBERS_KEPT_DAYS} + coalesce(greatest(p.hours_days, coalesce(o.results_days, p.results_days)), 0))`,
  }
}

/** The entries of the audit log beyond the newest AUDIT_ENTRIES_MAX of each organisation. */
function* surplusEntries(): Script<readonly Expired[]> {
  const found = yield* rows<{ orgId: string; seq: number | null }>(
    `SELECT o.id AS "orgId", (SELECT seq FROM audit WHERE org_id = o.id ORDER BY seq DESC LIMIT 1 OFFSET $1) AS seq
     FROM orgs o`,
    [AUDIT_ENTRIES_MAX],
  )
  return found.flatMap(({ orgId, seq }) =>
    seq === null
      ? []
      : [{ table: 'audit', key: 'seq', condition: 'org_id = $1 AND seq <= $2', values: [orgId, seq] }],
  )
}

/**
 * Notes which numbered endpoints no longer exist. The time of a removal is not stored, so it counts from the first call
 * that finds the endpoint missing. A number is never reused.
 */
async function markEndedEndpoints({ read, write }: Scripts, nowMs: number): Promise<void> {
  const lastOfSlice = `SELECT max(number) AS number FROM
    (SELECT number FROM numbered_endpoints WHERE number > $1 ORDER BY number LIMIT ${SLICE_ENDPOINTS}) slice`
  const slice = 'number > $2 AND number <= $3'
  const present = `SELECT (e.value ->> 'id')::uuid
    FROM services s, json_array_elements(${definitionJson('s.response')} -> 'endpoints') e
    WHERE s.id IN (SELECT service_id FROM numbered_endpoints WHERE ${slice})`
  for (let after = 0; ; ) {
    const last = (await read(() => row<{ number: number | null }>(lastOfSlice, [after])))?.number ?? null
    if (last === null) return
    const values = [nowMs, after, last]
    await write(() =>
      run(
        `UPDATE numbered_endpoints SET ended_at_ms = CASE WHEN ended_at_ms IS NULL THEN $1::bigint END
         WHERE ${slice} AND (ended_at_ms IS NULL) <> (endpoint_id IN (${present}))`,
        values,
      ),
    )
    after = last
  }
}
