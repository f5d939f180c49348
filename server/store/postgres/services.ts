import { type GenerationRow, generationsOf, originIn } from '../shared/pastGeneration.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { RenderedService, ServiceOrigins, ServiceStore } from '../store.ts'
import { rowOf, type Sql } from './connections/sql.ts'
import { definitionJson } from './connections/definitionJson.ts'
import { LIST_LENGTH_SQL, openLongList } from './longList.ts'
import { factsOf } from './writes/orgState.ts'
import type { StoreParts } from './writes/storeParts.ts'

/** Largest list rendered in memory (bytes). Gap G33. */
const WHOLE_LIST_BYTES_MAX = 8 * 1024 * 1024

/** Services in PostgreSQL. The rendered response is stored, so that a read parses nothing. */
export function postgresServices({ pools, queues, nowMs }: StoreParts): ServiceStore {
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
    generationsOf: (serviceId) => readGenerations(read, serviceId),
    listOrigins: (orgId) => readOrigins(read, orgId),
  }
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

async function readGenerations(read: Sql, serviceId: string) {
  const id = uuidOrNull(serviceId)
  const rows = await read.rows<GenerationRow & { readonly isCurrent: boolean }>(
    `SELECT generation, origin, response AS definition, NULL AS "untilMs", true AS "isCurrent"
       FROM services WHERE id = $1
     UNION ALL SELECT generation, origin, definition, until_ms, false
       FROM past_generations WHERE service_id = $1 ORDER BY generation DESC`,
    [id],
  )
  return generationsOf(
    rows.find(({ isCurrent }) => isCurrent),
    rows.filter(({ isCurrent }) => !isCurrent),
  )
}

async function readOrigins(read: Sql, orgId: string): Promise<readonly ServiceOrigins[]> {
  const rows = await read.rows<{ id: string; name: string; origin: string | null; past: (string | null)[] }>(
    `SELECT id, ${definitionJson('response')} ->> 'name' AS name, origin,
       ARRAY(SELECT g.origin FROM past_generations g WHERE g.service_id = s.id ORDER BY generation DESC) AS past
     FROM services s WHERE org_id = $1 ORDER BY lower(${definitionJson('response')} ->> 'name') COLLATE "C", id`,
    [uuidOrNull(orgId)],
  )
  return rows.map(({ id, name, origin, past }) => {
    const newest = originIn(origin)
    const isByPerson = newest !== null && newest.personId !== null
    return { id, name, origins: [newest, ...(isByPerson ? past.map(originIn) : [])] }
  })
}
