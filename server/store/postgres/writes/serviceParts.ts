import { PAST_BYTES_MAX } from '../../shared/pastGeneration.ts'
import type { Draft, ServiceRow } from './draft.ts'
import { assignmentsFrom, type Column, DELETED_AT_ONCE, namesOf, type Parameters } from './parameters.ts'

const SERVICE_COLUMNS: readonly Column[] = [
  ['id', 'uuid'],
  ['generation', 'integer'],
  ['definition_generation', 'integer'],
  ['running_in', 'text'],
  ['response', 'text'],
  ['origin', 'text'],
]

/** Parts of a write for services. */
export function serviceParts({ services }: Draft, parameters: Parameters): readonly string[] {
  const rows = (isStored: boolean) =>
    [...services.values()].flatMap(({ row, ...known }) =>
      row === null || known.isStored !== isStored ? [] : [valuesOf(row)],
    )
  const [added, changed] = [rows(false), rows(true)]
  const deleted = [...services].flatMap(([id, { row }]) => (row === null ? [id] : []))
  const parts: string[] = []
  if (added.length > 0) {
    parts.push(
      `INSERT INTO services (org_id, ${namesOf(SERVICE_COLUMNS)}) SELECT o.id, ${namesOf(SERVICE_COLUMNS, 'u.')}
       FROM o, ${parameters.table(SERVICE_COLUMNS, added)} ORDER BY u.n`,
    )
  }
  if (changed.length > 0) {
    parts.push(
      `UPDATE services s SET ${assignmentsFrom('u', SERVICE_COLUMNS)} FROM o, ${parameters.table(SERVICE_COLUMNS, changed)}
       WHERE s.id = u.id AND s.org_id = o.id`,
    )
  }
  if (deleted.length > 0) {
    parts.push(
      `DELETE FROM services s USING o WHERE s.id = ANY(${parameters.add(deleted)}::uuid[]) AND s.org_id = o.id`,
    )
  }
  return parts
}

function valuesOf({ id, generation, definitionGeneration, runningIn, text, origin }: ServiceRow) {
  return [id, generation, definitionGeneration, runningIn, text, origin]
}

const SEALED_COLUMNS: readonly Column[] = [
  ['key_id', 'uuid'],
  ['service_id', 'uuid'],
  ['endpoint_id', 'uuid'],
  ['slot', 'text'],
  ['master_key_id', 'text'],
  ['wrap_nonce', 'bytea'],
  ['wrapped_key', 'bytea'],
  ['nonce', 'bytea'],
  ['ciphertext', 'bytea'],
]

/** Parts for the secrets of services. */
export function secretParts({ services, sealed }: Draft, parameters: Parameters): readonly string[] {
  const rows = [...sealed.values()]
    .flat()
    .map((value) => [
      ...[value.keyId, value.serviceId, value.endpointId, value.slot, value.masterKeyId],
      ...[value.wrapNonce, value.wrappedKey, value.nonce, value.ciphertext],
    ])
  const replaced = [...sealed.keys()].filter((id) => services.get(id)?.isStored === true)
  const parts: string[] = []
  if (replaced.length > 0) {
    // The INSERT updates secrets that stay: one statement must not write a row twice.
    const kept = rows.map(([keyId = '']) => keyId)
    parts.push(
      `DELETE FROM sealed_values v USING o WHERE v.service_id = ANY(${parameters.add(replaced)}::uuid[])
       AND v.key_id <> ALL(${parameters.add(kept)}::uuid[])`,
    )
  }
  if (rows.length > 0) {
    parts.push(
      `INSERT INTO sealed_values (org_id, ${namesOf(SEALED_COLUMNS)}) SELECT o.id, ${namesOf(SEALED_COLUMNS, 'u.')}
       FROM o, ${parameters.table(SEALED_COLUMNS, rows)}
       ON CONFLICT (key_id) DO UPDATE SET ${assignmentsFrom('excluded', SEALED_COLUMNS)}`,
    )
  }
  return parts
}

/** Parts for the generations that changes ended. */
export function pastParts({ past, state }: Draft, parameters: Parameters): readonly string[] {
  if (past.length === 0) return []
  const columns: readonly Column[] = [
    ['service_id', 'uuid'],
    ['generation', 'integer'],
    ['until_ms', 'bigint'],
    ['origin', 'text'],
    ['definition', 'text'],
    ['bytes_up_to', 'bigint'],
  ]
  const rows = past.map((row) => [
    ...[row.serviceId, row.generation, row.untilMs, row.origin, row.definition, row.bytesUpTo],
  ])
  const excess = state.columns.pastBytes - PAST_BYTES_MAX
  return [
    `INSERT INTO past_generations (org_id, service_id, generation, until_ms, origin, definition, bytes_up_to)
     SELECT o.id, u.service_id, u.generation, u.until_ms, u.origin, u.definition, u.bytes_up_to
     FROM o, ${parameters.table(columns, rows)} ORDER BY u.n`,
    ...(excess > 0
      ? [
          `DELETE FROM past_generations WHERE sequence IN
           (SELECT sequence FROM past_generations, o WHERE org_id = o.id AND bytes_up_to <= ${parameters.add(excess)}
            ORDER BY bytes_up_to LIMIT ${DELETED_AT_ONCE})`,
        ]
      : []),
  ]
}
