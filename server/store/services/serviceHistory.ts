import type { ServiceResponse } from '../../../api/contract/service.ts'
import type { ChangeOrigin } from '../../domain/changeOrigin.ts'
import { pastDefinition } from '../../domain/pastDefinition.ts'
import { definitionJson } from '../scripts/definitionJson.ts'
import { rows, type Scripts } from '../scripts/script.ts'
import { uuidOrNull } from '../shared/uuid.ts'
import type { ServiceGeneration, ServiceOrigins, ServiceStore } from '../store.ts'

/** The past of services. */
export type ServiceHistory = Pick<ServiceStore, 'generationsOf' | 'listOrigins'>

/** A stored generation; the current one has its response as `definition`, and no end. */
interface GenerationRow {
  readonly generation: number
  readonly untilMs: number | null
  /** ChangeOrigin as JSON. */
  readonly origin: string | null
  readonly definition: string | null
}

/** A service with one of the origins of its past; `pastGeneration` is `null` when none is read. */
interface OriginRow {
  readonly id: string
  readonly name: string
  readonly origin: string | null
  readonly pastGeneration: number | null
  readonly pastOrigin: string | null
}

/** The past of services, as changes stored it. */
export function serviceHistory({ read }: Scripts): ServiceHistory {
  return {
    generationsOf: (serviceId) =>
      read(function* () {
        const found = yield* rows<GenerationRow>(
          `SELECT generation, NULL AS "untilMs", origin, response AS definition FROM services WHERE id = $1
           UNION ALL SELECT generation, until_ms, origin, definition FROM past_generations WHERE service_id = $1
           ORDER BY generation DESC`,
          [uuidOrNull(serviceId)],
        )
        return generationsOf(found)
      }),
    listOrigins: (orgId) =>
      read(function* () {
        const name = `${definitionJson('s.response')} ->> 'name'`
        // Only after a change by a person the earlier ones show who manages the service.
        const found = yield* rows<OriginRow>(
          `SELECT s.id, ${name} AS name, s.origin, g.generation AS "pastGeneration", g.origin AS "pastOrigin"
           FROM services s LEFT JOIN past_generations g
             ON g.service_id = s.id AND ${definitionJson('s.origin')} ->> 'personId' IS NOT NULL
           WHERE s.org_id = $1 ORDER BY lower(${name}) COLLATE "C", s.id, g.generation DESC`,
          [uuidOrNull(orgId)],
        )
        return originsOf(found)
      }),
  }
}

/** The generations of a service from its rows, newest first. One without a definition has that of its successor. */
function generationsOf(found: readonly GenerationRow[]): readonly ServiceGeneration[] {
  let newer: string | null = null
  return found.map(({ generation, untilMs, origin, definition: stored }) => {
    // True because only rendered ServiceResponses are stored.
    const own = untilMs === null ? pastDefinition(JSON.parse(stored ?? '') as ServiceResponse) : stored
    newer = own ?? newer
    return { generation, untilMs, origin: originIn(origin), definition: newer }
  })
}

function originsOf(found: readonly OriginRow[]): readonly ServiceOrigins[] {
  const services = new Map<string, { name: string; origins: (ChangeOrigin | null)[] }>()
  for (const { id, name, origin, pastGeneration, pastOrigin } of found) {
    const service = services.get(id) ?? { name, origins: [originIn(origin)] }
    services.set(id, service)
    if (pastGeneration !== null) service.origins.push(originIn(pastOrigin))
  }
  return [...services].map(([id, service]) => ({ id, ...service }))
}

function originIn(text: string | null): ChangeOrigin | null {
  // True because only origins are stored.
  return text === null ? null : (JSON.parse(text) as ChangeOrigin)
}
