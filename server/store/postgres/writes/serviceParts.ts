import type { SealedValue } from '../../../domain/seal.ts'
import { PAST_BYTES_MAX, type PastRow } from '../../shared/pastGeneration.ts'
import type { Draft, ServiceRow } from './draft.ts'
import { assignmentsFrom, columnsOf, DELETED_AT_ONCE, OF_ORG, type Parameters } from './parameters.ts'

const SERVICE_COLUMNS = columnsOf<ServiceRow>({
  ...{ id: 'uuid', generation: 'integer', definitionGeneration: 'integer' },
  ...{ runningIn: 'text', response: 'text', origin: 'text' },
})

/** Parts of a write for services. */
export function serviceParts({ services }: Draft, parameters: Parameters): readonly string[] {
  const rows = (isStored: boolean) =>
    [...services.values()].flatMap(({ row, ...known }) =>
      row === null || known.isStored !== isStored ? [] : [row],
    )
  const [added, changed] = [rows(false), rows(true)]
  const deleted = [...services].flatMap(([id, { row }]) => (row === null ? [id] : []))
  const parts: string[] = []
  if (added.length > 0) {
    parts.push(parameters.insert('services', { columns: SERVICE_COLUMNS, rows: added, own: OF_ORG }))
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

const SEALED_COLUMNS = columnsOf<SealedValue>({
  ...{ keyId: 'uuid', serviceId: 'uuid', endpointId: 'uuid', slot: 'text', masterKeyId: 'text' },
  ...{ wrapNonce: 'bytea', wrappedKey: 'bytea', nonce: 'bytea', ciphertext: 'bytea' },
})

/** Parts for the secrets of services. */
export function secretParts({ services, sealed }: Draft, parameters: Parameters): readonly string[] {
  const rows = [...sealed.values()].flat()
  const replaced = [...sealed.keys()].filter((id) => services.get(id)?.isStored === true)
  const parts: string[] = []
  if (replaced.length > 0) {
    // The INSERT updates secrets that stay: one statement must not write a row twice.
    const kept = rows.map(({ keyId }) => keyId)
    parts.push(
      `DELETE FROM sealed_values v USING o WHERE v.service_id = ANY(${parameters.add(replaced)}::uuid[])
       AND v.key_id <> ALL(${parameters.add(kept)}::uuid[])`,
    )
  }
  if (rows.length > 0) {
    parts.push(
      `${parameters.insert('sealed_values', { columns: SEALED_COLUMNS, rows, own: OF_ORG })}
       ON CONFLICT (key_id) DO UPDATE SET ${assignmentsFrom('excluded', SEALED_COLUMNS)}`,
    )
  }
  return parts
}

const PAST_COLUMNS = columnsOf<PastRow>({
  ...{ serviceId: 'uuid', generation: 'integer', untilMs: 'bigint' },
  ...{ origin: 'text', definition: 'text', bytesUpTo: 'bigint' },
})

/** Parts for the generations that changes ended. */
export function pastParts({ past, state }: Draft, parameters: Parameters): readonly string[] {
  if (past.length === 0) return []
  const added = parameters.insert('past_generations', { columns: PAST_COLUMNS, rows: past, own: OF_ORG })
  const excess = state.columns.pastBytes - PAST_BYTES_MAX
  if (excess <= 0) return [added]
  const forgotten = `DELETE FROM past_generations WHERE sequence IN
    (SELECT sequence FROM past_generations, o WHERE org_id = o.id AND bytes_up_to <= ${parameters.add(excess)}
     ORDER BY bytes_up_to LIMIT ${DELETED_AT_ONCE})`
  return [added, forgotten]
}
