import { LONG_RESPONSES_BYTES_MAX, SHORT_RESPONSES_MAX } from '../../shared/storedCreation.ts'
import { BUS_READER } from '../../store.ts'
import type { SqlValue } from '../connections/sql.ts'
import { automaticParts } from './automatic.ts'
import type { CommandRow, CreationRow, Draft } from './draft.ts'
import { eventParts } from './eventParts.ts'
import { incidentParts } from './incidentParts.ts'
import { ORG_COLUMNS } from './orgColumns.ts'
import { assignmentsFrom, columnsOf, DELETED_AT_ONCE, OF_ORG, Parameters, SERVICE_ID } from './parameters.ts'
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

const COMMAND_COLUMNS = columnsOf<CommandRow>({
  ...{ type: 'text', region: 'text', serviceId: 'uuid' },
  ...{ generation: 'integer', number: 'bigint', createdAtMs: 'bigint' },
})

function commandParts({ commands, state }: Draft, parameters: Parameters): readonly string[] {
  if (commands.length === 0) return []
  const added = parameters.insert('commands', { columns: COMMAND_COLUMNS, rows: commands, own: OF_ORG })
  const surplus = state.columns.commandsMade - COMMANDS_KEPT_MAX
  if (surplus <= 0) return [added]
  const forgotten = `DELETE FROM commands WHERE sequence IN
    (SELECT c.sequence FROM commands c, o, outbox_readers r
     WHERE c.org_id = o.id AND c.number <= ${parameters.add(surplus)} AND r.name = '${BUS_READER}'
       AND (c.xid, c.sequence) <= (r.xid, r.sequence)
     ORDER BY c.number LIMIT ${DELETED_AT_ONCE})`
  return [added, forgotten]
}

const CREATION_COLUMNS = columnsOf<CreationRow>({
  ...{ keyHash: 'bytea', bodyMark: 'bytea', answer: 'text' },
  ...{ createdAtMs: 'bigint', shortNumber: 'bigint', longBytesUpTo: 'bigint' },
})

function creationParts({ creations, state }: Draft, parameters: Parameters): readonly string[] {
  if (creations.size === 0) return []
  const rows = [...creations.values()]
  const { shortResponsesMade, longResponseBytes } = state.columns
  const surplus = [
    `short_number <= ${parameters.add(shortResponsesMade - SHORT_RESPONSES_MAX)}`,
    `long_bytes_up_to <= ${parameters.add(longResponseBytes - LONG_RESPONSES_BYTES_MAX)}`,
  ]
  // The INSERT replaces an expired response of the same key: one statement must not write a row twice.
  const others = `r.key_hash <> ALL(${parameters.add(rows.map(({ keyHash }) => keyHash))}::bytea[])`
  return [
    `${parameters.insert('remembered_creations', { columns: CREATION_COLUMNS, rows, own: OF_ORG })}
     ON CONFLICT (org_id, key_hash) DO UPDATE SET ${assignmentsFrom('excluded', CREATION_COLUMNS)}`,
    ...surplus.map(
      (condition) =>
        `DELETE FROM remembered_creations r USING o WHERE r.org_id = o.id AND ${condition} AND ${others}`,
    ),
  ]
}

function quietParts({ quiet }: Draft, parameters: Parameters): readonly string[] {
  if (quiet.size === 0) return []
  const rows = [...quiet].map((serviceId) => ({ serviceId }))
  return [
    `${parameters.insert('quiet_changes', { columns: SERVICE_ID, rows })}
     ON CONFLICT (service_id) DO UPDATE SET xid = excluded.xid`,
  ]
}

const AUDIT_COLUMNS = columnsOf<Draft['actions'][number]>({
  ...{ at: 'text', actorKind: 'text', actor: 'text', action: 'text' },
  ...{ targetKind: 'text', targetId: 'text', detail: 'text' },
})

function auditParts({ actions }: Draft, writeId: string, parameters: Parameters): readonly string[] {
  if (actions.length === 0) return []
  const own = { ...OF_ORG, write_id: `${parameters.add(writeId)}::uuid` }
  return [parameters.insert('audit', { columns: AUDIT_COLUMNS, rows: actions, own })]
}
