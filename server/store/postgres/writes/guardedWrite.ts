import { LONG_RESPONSES_BYTES_MAX, SHORT_RESPONSES_MAX } from '../../shared/storedCreation.ts'
import { BUS_READER } from '../../store.ts'
import type { SqlValue } from '../connections/sql.ts'
import { automaticParts } from './automatic.ts'
import type { Draft } from './draft.ts'
import { eventParts } from './eventParts.ts'
import { incidentParts } from './incidentParts.ts'
import { ORG_COLUMNS } from './orgColumns.ts'
import { assignmentsFrom, type Column, DELETED_AT_ONCE, namesOf, Parameters } from './parameters.ts'
import { pastParts, secretParts, serviceParts } from './serviceParts.ts'

/** Maximum number of published commands kept for an organisation, for inspection. Gap G24. */
const COMMANDS_KEPT_MAX = 50_000

/** A statement with its values. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/**
 * The statement that writes all of `draft`, or nothing: every part is joined to the row of the first part, the guard.
 * It has only the parts that are needed, so that there are few statements to prepare. Its only row has `written`: 1, or
 * 0 when the organisation has changed since it was read. Pure.
 */
export function guardedWrite(draft: Draft, writeId: string): Statement {
  const parameters = new Parameters()
  const guard = guardPart(draft, parameters)
  const parts = [
    ...serviceParts(draft, parameters),
    ...secretParts(draft, parameters),
    ...pastParts(draft, parameters),
    ...commandParts(draft, parameters),
    ...incidentParts(draft, parameters),
    ...eventParts(draft, parameters),
    ...creationParts(draft, parameters),
    ...automaticParts(draft, parameters),
    ...quietParts(draft, parameters),
    ...auditParts(draft, writeId, parameters),
  ].map((part, index) =>
    typeof part === 'string' ? `part${index} AS (${part})` : `${part.name} AS (${part.text})`,
  )
  const text = `WITH o AS (${guard}), ${parts.join(', ')} SELECT count(*) AS written FROM o`
  return { text, values: parameters.values }
}

function guardPart({ state }: Draft, parameters: Parameters): string {
  const guard = `id = ${parameters.add(state.orgId)} AND revision = ${parameters.add(state.revision)}`
  const assignments = ORG_COLUMNS.map(
    ({ field, column }) => `${column} = ${parameters.add(state.columns[field])}`,
  )
  return `UPDATE orgs SET ${assignments.join(', ')}, revision = revision + 1 WHERE ${guard} RETURNING id`
}

function commandParts({ commands, state }: Draft, parameters: Parameters): readonly string[] {
  if (commands.length === 0) return []
  const columns: readonly Column[] = [
    ['type', 'text'],
    ['region', 'text'],
    ['service_id', 'uuid'],
    ['generation', 'integer'],
    ['number', 'bigint'],
    ['created_at_ms', 'bigint'],
  ]
  const rows = commands.map(({ type, region, serviceId, generation, number, nowMs }) => [
    ...[type, region, serviceId, generation, number, nowMs],
  ])
  const surplus = state.columns.commandsMade - COMMANDS_KEPT_MAX
  return [
    `INSERT INTO commands (org_id, type, region, service_id, generation, number, created_at_ms)
     SELECT o.id, u.type, u.region, u.service_id, u.generation, u.number, u.created_at_ms
     FROM o, ${parameters.table(columns, rows)} ORDER BY u.n`,
    ...(surplus > 0
      ? [
          `DELETE FROM commands WHERE sequence IN
           (SELECT c.sequence FROM commands c, o, outbox_readers r
            WHERE c.org_id = o.id AND c.number <= ${parameters.add(surplus)} AND r.name = '${BUS_READER}'
              AND (c.xid, c.sequence) <= (r.xid, r.sequence)
            ORDER BY c.number LIMIT ${DELETED_AT_ONCE})`,
        ]
      : []),
  ]
}

function creationParts({ creations, state }: Draft, parameters: Parameters): readonly string[] {
  if (creations.size === 0) return []
  const columns: readonly Column[] = [
    ['key_hash', 'bytea'],
    ['body_mark', 'bytea'],
    ['answer', 'text'],
    ['created_at_ms', 'bigint'],
    ['short_number', 'bigint'],
    ['long_bytes_up_to', 'bigint'],
  ]
  const rows = [...creations.values()].map((row) => [
    ...[row.keyHash, row.bodyFingerprint, row.response, row.nowMs, row.shortNumber, row.longBytesUpTo],
  ])
  const { shortResponsesMade, longResponseBytes } = state.columns
  const surplus = [
    `short_number <= ${parameters.add(shortResponsesMade - SHORT_RESPONSES_MAX)}`,
    `long_bytes_up_to <= ${parameters.add(longResponseBytes - LONG_RESPONSES_BYTES_MAX)}`,
  ]
  // The INSERT replaces an expired response of the same key: one statement must not write a row twice.
  const others = `r.key_hash <> ALL(${parameters.add(rows.map(([keyHash = null]) => keyHash))}::bytea[])`
  return [
    `INSERT INTO remembered_creations (org_id, ${namesOf(columns)})
     SELECT o.id, ${namesOf(columns, 'u.')} FROM o, ${parameters.table(columns, rows)}
     ON CONFLICT (org_id, key_hash) DO UPDATE SET
       ${assignmentsFrom('excluded', columns)}`,
    ...surplus.map(
      (condition) =>
        `DELETE FROM remembered_creations r USING o WHERE r.org_id = o.id AND ${condition} AND ${others}`,
    ),
  ]
}

function quietParts({ quiet }: Draft, parameters: Parameters): readonly string[] {
  if (quiet.size === 0) return []
  const table = parameters.table(
    [['service_id', 'uuid']],
    [...quiet].map((id) => [id]),
  )
  return [
    `INSERT INTO quiet_changes (service_id) SELECT u.service_id FROM o, ${table}
     ON CONFLICT (service_id) DO UPDATE SET xid = excluded.xid`,
  ]
}

function auditParts({ actions: acts }: Draft, writeId: string, parameters: Parameters): readonly string[] {
  if (acts.length === 0) return []
  const columns: readonly Column[] = [
    ['at', 'text'],
    ['actor_kind', 'text'],
    ['actor', 'text'],
    ['action', 'text'],
    ['target_kind', 'text'],
    ['target_id', 'text'],
    ['detail', 'text'],
  ]
  const rows = acts.map(({ at, actorKind, actor, action, targetKind, targetId, detail }) => [
    ...[at, actorKind, actor, action, targetKind, targetId, detail],
  ])
  return [
    `INSERT INTO audit (org_id, write_id, ${namesOf(columns)})
     SELECT o.id, ${parameters.add(writeId)}::uuid, ${namesOf(columns, 'u.')}
     FROM o, ${parameters.table(columns, rows)} ORDER BY u.n`,
  ]
}
