import { WHOLE_LIST_BYTES_MAX } from '../shared/listPieces.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { RenderedService, ServiceStore } from '../store.ts'
import { rowOf, type Sql } from './connections/sql.ts'
import { LIST_LENGTH_SQL, openLongList } from './longList.ts'
import { factsOf } from './writes/orgState.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Services in PostgreSQL. The rendered response is stored, so that a read parses nothing. */
export function postgresServices({ pools, queues, nowMs }: StoreParts) {
  const { read } = pools
  return {
    listServices: async (orgId) =>
      await read.rows<RenderedService>(
        'SELECT response AS text, generation FROM services WHERE org_id = $1 ORDER BY position',
        [uuidOrNull(orgId)],
      ),
    serviceGenerations: async (orgId) => {
      const rows = await read.rows<{ id: string; generation: number }>(
        'SELECT id, generation FROM services WHERE org_id = $1',
        [uuidOrNull(orgId)],
      )
      return new Map(rows.map(({ id, generation }) => [id, generation]))
    },
    renderServices: (orgId) => renderList(read, orgId),
    openServices: (orgId) =>
      openLongList(pools.longReader, {
        length: { text: LIST_LENGTH_SQL, values: [uuidOrNull(orgId)] },
        rows: {
          text: 'SELECT response AS text FROM services WHERE org_id = $1 ORDER BY position',
          values: [uuidOrNull(orgId)],
        },
      }),
    getService: async (orgId, serviceId) =>
      await rowOf<RenderedService>(
        read,
        'SELECT response AS text, generation FROM services WHERE id = $1 AND org_id = $2',
        [uuidOrNull(serviceId), uuidOrNull(orgId)],
      ),
    createService: (orgId, fingerprint, decide) =>
      queues.run(orgId, {
        reads: fingerprint === undefined ? {} : { creationKeys: [fingerprint.keyHash] },
        decide: (draft) => {
          const now = nowMs()
          const text = draft.createOnce(
            fingerprint,
            now,
            () => draft.changeService(null, decide(factsOf(draft.state)), now).text,
          )
          return { text, generation: 1 }
        },
      }),
    changeService: (orgId, serviceId, decide) =>
      queues.run(orgId, {
        reads: { serviceIds: [serviceId] },
        decide: (draft) => {
          const known = draft.state.services.get(serviceId)
          if (known === undefined) return undefined
          const change = decide(known.service, factsOf(draft.state))
          if (change === null) return { text: known.text, generation: known.service.generation }
          return draft.changeService(known, change, nowMs())
        },
      }),
  } satisfies Partial<ServiceStore>
}

/** `undefined` when the list is too long; the database then reads only its length. */
async function renderList(read: Sql, orgId: string): Promise<Uint8Array | undefined> {
  const row = await rowOf<{ list: string | null }>(
    read,
    `SELECT CASE WHEN (${LIST_LENGTH_SQL}) <= ${WHOLE_LIST_BYTES_MAX} THEN
       (SELECT '[' || coalesce(string_agg(response, ',' ORDER BY position), '') || ']'
        FROM services WHERE org_id = $1) END AS list`,
    [uuidOrNull(orgId)],
  )
  return row?.list == null ? undefined : Buffer.from(row.list)
}
